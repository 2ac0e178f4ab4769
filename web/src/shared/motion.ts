const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** isStill reports whether the reader prefers a page without motion. */
export const isStill = () => reduced.matches;
