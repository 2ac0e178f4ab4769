import { Leaderboard, type Schemas } from "@leaderboard/client";
import { base } from "../../shared/base";

export type Key = Schemas["Key"];

/** connect makes a client that fails soon, because a person waits for the answer. */
const connect = (key?: string) => new Leaderboard({ url: `${base}/`, key, timeout: 20_000, maxWait: 3_000 });

/** Where the view is kept that somebody wanted to see, while the provider signs that person in. */
const wanted = "console wanted";

/** A Session is who is signed in: a person, or a key. Either is in a cookie that no script can read, so it lasts longer than the page. */
class Session {
  #client = $state.raw<Leaderboard>();
  key = $state.raw<Key>();
  /** offered: people can sign in by the identity provider of this server. */
  offered = $state(false);
  /** looked: the server has said whether somebody is signed in. */
  looked = $state(false);

  /** client asks the API with the key. There is one while somebody is signed in. */
  get client(): Leaderboard {
    if (!this.#client) throw new Error("nobody is signed in");
    return this.#client;
  }

  /** look finds out whether somebody is signed in by a cookie, and whether people can sign in. */
  async look(): Promise<void> {
    const client = connect();
    try {
      const { sign_in, key } = await client.getSession();
      this.offered = sign_in;
      if (key) {
        this.key = key;
        this.#client = client;
        this.#goOn();
      }
    } catch {
      // A key may still be valid. Signing in with the key shows the error.
    }
    this.looked = true;
  }

  /** leave remembers the view before the browser goes to the provider, which sends it back to the first one. */
  leave(): void {
    sessionStorage.setItem(wanted, location.hash);
  }

  #goOn(): void {
    const view = sessionStorage.getItem(wanted);
    sessionStorage.removeItem(wanted);
    if (view && !location.hash) location.hash = view;
    if (location.search) history.replaceState(null, "", location.pathname + location.hash); // removes the error of an earlier sign-in from the address
  }

  async signIn(text: string): Promise<void> {
    const client = connect(text);
    this.key = await client.getOwnKey();
    this.#client = client;
    await client.keepKey().catch(() => {}); // without it the key is good until the page is read again
  }

  /** signOut has the browser forget a key, and ends the session of a person at the server. */
  async signOut(): Promise<void> {
    await this.client.endSession();
    this.forget();
  }

  /** forget shows the view for signing in, because the server no longer knows the person. */
  forget(): void {
    this.key = undefined;
    this.#client = undefined;
  }

  /** mayWrite reports whether the key may submit to a board. */
  mayWrite(board: string): boolean {
    return this.key?.scope !== "read" && this.#covers(board);
  }

  /** mayAdmin reports whether the key may change a board, or, without a board, administer the server. */
  mayAdmin(board?: string): boolean {
    return this.key?.scope === "admin" && (board === undefined || this.#covers(board));
  }

  /** everywhere: the key is for all boards, and so for members everywhere, keys and the audit. */
  get everywhere(): boolean {
    return this.key?.boards === null;
  }

  /** Who is signed in, in words: a name and a scope. */
  get words(): string {
    const { id = "", name = "", scope = "read" } = this.key ?? {};
    return `${id.startsWith("env:") ? "Key from the settings" : name} · ${{ read: "Read", write: "Write", admin: "Admin" }[scope]}`;
  }

  /** covers follows the rule of the server: names, and prefixes followed by a star. */
  #covers(board: string): boolean {
    const boards = this.key?.boards;
    return boards === null || !!boards?.some((b) => (b.endsWith("*") ? board.startsWith(b.slice(0, -1)) : b === board));
  }
}

export const session = new Session();
