import { ProblemError, type Schemas } from "@leaderboard/client";
import { text } from "../shared/language";
import { server, words } from "../shared/server";
import { chosen, type Question } from "./address";
import type { Top } from "./live.svelte";

/** Who looks at the page: a token, and the member that it is of. */
interface Player {
  token: string;
  member: string;
}

const kept = "player";

/** memberOf returns the claim sub of a token, or "". The server verifies the token; the page only sends it. */
function memberOf(token: string): string {
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === "string" ? sub : "";
  } catch {
    return "";
  }
}

/** taken returns the player whose token the address of the page ends with, and takes it out of the address: #token=…&member=…, which no
 * server is sent. */
function taken(): Player | undefined {
  const v = new URLSearchParams(location.hash.slice(1));
  const token = v.get("token");
  if (!token) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  const member = v.get("member") || memberOf(token);
  return member ? { token, member } : undefined;
}

/** keep keeps a player for the other pages of this tab; undefined: none. A browser may forbid that in frames. */
function keep(player: Player | undefined): void {
  try {
    if (player) sessionStorage.setItem(kept, JSON.stringify(player));
    else sessionStorage.removeItem(kept);
  } catch {} // then it is for this page
}

function found(): Player | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(kept) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** The member whose reader uses this device, and the ranks that were shown last, by window, period and mode. */
interface Remembered {
  member: string;
  ranks: Record<string, number>;
}

const placeOf = (board: string) => `me ${board}`;

/** remembered reads who that is. A browser may forbid it. */
function remembered(board: string): Remembered | undefined {
  try {
    const it = JSON.parse(localStorage.getItem(placeOf(board)) ?? "null") as Remembered | null;
    return it && typeof it.member === "string" && typeof it.ranks === "object" ? it : undefined;
  } catch {
    return undefined;
  }
}

/** rememberAs writes who reads a board; undefined: nobody. */
function rememberAs(board: string, it: Remembered | undefined): void {
  try {
    if (it) localStorage.setItem(placeOf(board), JSON.stringify(it));
    else localStorage.removeItem(placeOf(board));
  } catch {} // then it is for this page
}

/** How many periods' ranks are remembered. */
const maxRanks = 20;

/** The reader of the page, known from a token or from this device, and the reader's own entry. */
export class You {
  #player = $state.raw<Player>();
  #board: string;
  /** The member whose reader this device is, as the reader said here or on an earlier visit; "": unknown. An address says nothing about that. */
  #me = $state.raw<string>("");
  #before: Record<string, number> = {}; // its ranks at the last visit
  /** The own entry, which answers #of. */
  #entry = $state.raw<Schemas["MemberAnswer"]>();
  #of = $state("");
  /** The entries around it, when they were asked for. */
  around = $state.raw<Schemas["RankedEntry"][]>([]);
  #isShut = $state(false); // the token is not for the friends on this board
  /** A note shown in place of the entry. */
  note = $state("");

  constructor(q: Question) {
    this.#board = q.board;
    this.take();
    if (q.embed) return; // a frame is of another site, whose players have tokens
    const it = remembered(q.board);
    if (it) [this.#me, this.#before] = [it.member, it.ranks];
  }

  /** remembered reports whether only this device knows the reader: then it can forget the reader. */
  get remembered(): boolean {
    return !this.#player && this.#me !== "";
  }

  /** hasFriends reports whether the page can ask for the reader's friends: with a token. */
  get hasFriends(): boolean {
    return !!this.#player && !this.#isShut;
  }

  /** friends asks for a page of the reader's friends and the reader, best first. */
  async friends(q: Question, signal: AbortSignal | undefined): Promise<Top> {
    const player = this.#player;
    try {
      return await server({ key: player?.token ?? "", maxWait: 0 }).getBoardFriends(q.board, player?.member ?? "", { limit: q.limit, offset: q.offset || undefined, ...chosen(q), profiles: true, signal });
    } catch (error) {
      if (error instanceof ProblemError && (error.status === 401 || error.status === 403) && player === this.#player) this.#isShut = true;
      throw error;
    }
  }

  /** mayBe reports whether the reader can say to be a member: without a token, and not that member already. */
  mayBe(member: string): boolean {
    return !this.#player && this.#me !== member;
  }

  /** remember has this device know that a member reads the board. */
  remember(member: string): void {
    [this.#me, this.#before] = [member, {}];
    [this.#entry, this.#of, this.note] = [undefined, "", ""];
    rememberAs(this.#board, { member, ranks: {} });
  }

  /** forget makes this device forget the reader. */
  forget(): void {
    [this.#me, this.#before] = ["", {}];
    [this.#entry, this.#of, this.note] = [undefined, "", ""];
    rememberAs(this.#board, undefined);
  }

  /** since is how many ranks up the reader has gone since the last visit; 0: none, or it is not known. */
  since(q: Question): number {
    const entry = this.entry(q);
    const before = entry && this.#before[seenAs(entry)];
    return before ? before - entry.rank! : 0;
  }

  /** #note remembers the rank that is shown. */
  #noteRank(entry: Schemas["MemberAnswer"]): void {
    const it = remembered(this.#board);
    const ranks = it?.member === entry.member ? it.ranks : {};
    delete ranks[seenAs(entry)]; // the rank written last is dropped last
    const rest = Object.entries({ ...ranks, [seenAs(entry)]: entry.rank! }).slice(-maxRanks);
    rememberAs(this.#board, { member: entry.member, ranks: Object.fromEntries(rest) });
  }

  /** take takes the token that the address has got, for instance another one from the site that shows the page in a frame. */
  take(): void {
    const player = taken();
    if (player) {
      keep(player);
      this.#isShut = false;
    }
    this.#player = player ?? this.#player ?? found();
  }

  /** The member who reads the page, "" for anybody. */
  get member(): string {
    return this.#player?.member ?? this.#me;
  }

  /** entry returns the reader's entry for the window, period and mode of a question, undefined while it is unknown. */
  entry(q: Question): Schemas["MemberAnswer"] | undefined {
    return this.#of === keyOf(q) ? this.#entry : undefined;
  }

  /** look asks for the own entry, and for those around it when the board is private. */
  async look(q: Question, isPrivate: boolean, signal: AbortSignal): Promise<void> {
    const [player, member] = [this.#player, this.member];
    if (!member || /^\.{1,2}$/.test(member)) return; // no address can name it
    const client = server(player ? { key: player.token, maxWait: 0 } : { maxWait: 0 });
    const options = { ...chosen(q), profiles: true, signal };
    try {
      const [entry, around] = await Promise.all([
        client.getMember(q.board, member, options),
        isPrivate ? client.getAround(q.board, member, { ...options, before: 5, after: 5 }) : undefined,
      ]);
      if (player !== this.#player || member !== this.member) return; // the reader has changed meanwhile
      if (!player) this.#noteRank(entry);
      [this.#entry, this.#of, this.note] = [entry, keyOf(q), ""];
      this.around = around?.entries ?? [];
    } catch (error) {
      if (signal.aborted || player !== this.#player || member !== this.member) return;
      if (!(error instanceof ProblemError)) return; // the page keeps the last entry and asks again
      if (error.status === 429 || error.status >= 500) return;
      [this.#entry, this.#of, this.around] = [undefined, "", []];
      if (error.status === 401) {
        this.#player = undefined;
        keep(undefined);
        this.note = text("you.signedOut");
      } else if (error.code === "not-ranked") this.note = text("you.none");
      else this.note = error.code === "board-not-found" ? "" : words(error); // there is another text about that
    }
  }
}

/** seenAs names what a rank is of. */
const seenAs = (entry: Schemas["MemberAnswer"]) => `${entry.window} ${entry.period} ${entry.mode}`;
const keyOf = (q: Question) => JSON.stringify([q.board, q.window, q.period, q.mode]);
