// Package cache answers reads from the nearest layer that can, so that MySQL is asked seldom. Reader keeps pages and
// ranks in the process and reads copies of the top N in Redis (package topn), Combiner ranks several boards as one,
// Catalog knows boards and periods by name, Loader keeps profiles and lists of friends. Every layer may be lost at any
// moment without losing anything.
package cache
