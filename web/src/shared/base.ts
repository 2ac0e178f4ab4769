// This file is served from the folder assets, below the path that the service has.
const here = import.meta.url;

/** The path below which the service is, without a slash at its end; empty: the root. */
export const base = new URL("..", here).pathname.replace(/\/$/, "");
