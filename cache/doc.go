// Package cache answers reads from the nearest layer that can, so that MySQL is asked seldom. Reader keeps answers in the
// process, asks periods that are whole in memory (package resident) and copies of the top N in Redis (package topn), and
// ranks several boards as one. Catalog knows boards and periods by name, Loader keeps profiles and lists of friends. Every
// layer may be lost at any moment without losing anything.
package cache
