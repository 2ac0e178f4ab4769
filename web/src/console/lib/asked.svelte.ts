/** Asked is the answer to a question, the latest one, and what went wrong since. */
export class Asked<T> {
  value = $state.raw<T>();
  error = $state.raw<unknown>();
  busy = $state(false);
  /** again asks anew. */
  again: () => Promise<void> = async () => {};
}

/**
 * asked asks a question when a component appears and whenever something changes that it depends on; again and again, every
 * so many milliseconds while the page is visible, when that is wanted. The last answer stays until the next one is there.
 */
export function asked<T>(question: (signal: AbortSignal) => Promise<T>, every?: number): Asked<T> {
  const out = new Asked<T>();
  $effect(() => {
    const leave = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = async (answer: Promise<T>) => {
      out.busy = true;
      try {
        const value = await answer;
        if (leave.signal.aborted) return;
        out.value = value;
        out.error = undefined;
      } catch (error) {
        if (leave.signal.aborted) return;
        out.error = error;
      }
      out.busy = false;
      plan();
    };
    const plan = () => {
      clearTimeout(timer);
      if (every && !document.hidden) timer = setTimeout(out.again, every);
    };
    out.again = () => take(question(leave.signal));
    const visible = () => void (every && !document.hidden && out.again());
    document.addEventListener("visibilitychange", visible);
    void take(question(leave.signal)); // what it reads before it waits is what it depends on
    return () => {
      leave.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", visible);
    };
  });
  return out;
}

/** An Action is something that is done on request: whether it is under way, and what went wrong the last time. */
export class Action {
  busy = $state(false);
  error = $state.raw<unknown>();

  /** run says whether it was done. */
  async run(what: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = undefined;
    try {
      await what();
      return true;
    } catch (error) {
      this.error = error;
      return false;
    } finally {
      this.busy = false;
    }
  }
}

/** A Trail is the way to a page of a list: the cursors that led there. */
export class Trail {
  cursors = $state.raw<string[]>([]);
  cursor = $derived(this.cursors.at(-1));
}
