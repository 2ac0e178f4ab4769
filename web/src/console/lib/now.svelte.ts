/** The current time, updated every second, for ages such as "3 s ago". */
class Now {
  time = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.time = Date.now();
    }, 1000);
  }
}

export const now = new Now();
