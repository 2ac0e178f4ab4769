import { Leaderboard, type Schemas } from "@leaderboard/client";

export type Key = Schemas["Key"];

/** connect makes a client that says soon what is wrong: somebody waits for it. */
const connect = (key: string) => new Leaderboard({ url: "/", key, timeout: 20_000, maxWait: 3_000 });

/** A Session is who is signed in. The key is in the memory of the page only. */
class Session {
  #client = $state.raw<Leaderboard>();
  key = $state.raw<Key>();

  /** client asks the API with the key. There is one while somebody is signed in. */
  get client(): Leaderboard {
    if (!this.#client) throw new Error("nobody is signed in");
    return this.#client;
  }

  async signIn(text: string): Promise<void> {
    const client = connect(text);
    this.key = await client.getOwnKey();
    this.#client = client;
  }

  signOut(): void {
    this.key = undefined;
    this.#client = undefined;
  }

  /** mayWrite says whether the key may submit to a board. */
  mayWrite(board: string): boolean {
    return this.key?.scope !== "read" && this.#covers(board);
  }

  /** mayAdmin says whether the key may change a board; without one, whether it may see to the server. */
  mayAdmin(board?: string): boolean {
    return this.key?.scope === "admin" && (board === undefined || this.#covers(board));
  }

  /** everywhere: the key is for all boards, and so for members everywhere, keys and the audit. */
  get everywhere(): boolean {
    return this.key?.boards === null;
  }

  /** covers follows the rule of the server: names, and prefixes followed by a star. */
  #covers(board: string): boolean {
    const boards = this.key?.boards;
    return boards === null || !!boards?.some((b) => (b.endsWith("*") ? board.startsWith(b.slice(0, -1)) : b === board));
  }
}

export const session = new Session();
