const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** isStill says whether the reader wants nothing to move. */
export const isStill = () => reduced.matches;
