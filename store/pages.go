package store

// DataPage is how many rows one statement of a Data reads.
const DataPage = 1000

// InPages calls each with every element of a list that is read in pages of DataPage. each returns the place of its element:
// the next page begins after the last of them.
func InPages[P, V any](page func(after P) ([]V, error), each func(*V) (place P, err error)) error {
	var after P
	for {
		list, err := page(after)
		if err != nil {
			return err
		}
		for i := range list {
			if after, err = each(&list[i]); err != nil {
				return err
			}
		}
		if len(list) < DataPage {
			return nil
		}
	}
}
