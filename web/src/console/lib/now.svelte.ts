/** The time, told every second, for what says how long ago something was. */
class Now {
  time = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.time = Date.now();
    }, 1000);
  }
}

export const now = new Now();
