/** An Asked has the latest answer to a question, and the error since then. */
export class Asked<T> {
  value = $state.raw<T>();
  error = $state.raw<unknown>();
  busy = $state(false);
  /** again asks the question again. */
  again: () => Promise<void> = async () => {};
}

/**
 * asked asks a question when a component appears and whenever a state that the question reads changes. With every, it repeats
 * the question after that number of milliseconds, while the page is visible. The last answer stays until the next one arrives.
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
    void take(question(leave.signal)); // the effect depends on the states that question reads before its first await
    return () => {
      leave.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", visible);
    };
  });
  return out;
}

/** An Action runs a task on request, and shows whether it is under way and its last error. */
export class Action {
  busy = $state(false);
  error = $state.raw<unknown>();

  /** run reports whether the task ran and succeeded. */
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
