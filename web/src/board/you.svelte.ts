import { ProblemError, type Schemas } from "@leaderboard/client";
import { server, words } from "../shared/server";
import { chosen, type Question } from "./address";

/** Who looks at the page: a token, and the member that it is of. */
interface Player {
  token: string;
  member: string;
}

const kept = "player";

/** memberOf returns the claim sub of a token, "" when it has none. The server verifies the token, the page only asks with it. */
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

/** The reader of the page, as far as a token tells, and the own entry. */
export class You {
  #player = $state.raw<Player>();
  /** The own entry, which answers #of. */
  #entry = $state.raw<Schemas["MemberAnswer"]>();
  #of = $state("");
  /** The entries around it, when they were asked for. */
  around = $state.raw<Schemas["RankedEntry"][]>([]);
  /** What there is to say in the place of an entry. */
  note = $state("");

  constructor() {
    this.take();
  }

  /** take takes the token that the address has got, for instance another one from the site that shows the page in a frame. */
  take(): void {
    const player = taken();
    if (player) keep(player);
    this.#player = player ?? this.#player ?? found();
  }

  /** The member who reads the page, "" for anybody. */
  get member(): string {
    return this.#player?.member ?? "";
  }

  /** entry returns the own entry in what a question asks for, undefined as long as it is not known. */
  entry(q: Question): Schemas["MemberAnswer"] | undefined {
    return this.#of === keyOf(q) ? this.#entry : undefined;
  }

  /** look asks for the own entry, and for those around it when the board is private. */
  async look(q: Question, isPrivate: boolean, signal: AbortSignal): Promise<void> {
    const player = this.#player;
    if (!player || /^\.{1,2}$/.test(player.member)) return; // no address can name it
    const client = server({ key: player.token, maxWait: 0 });
    const options = { ...chosen(q), profiles: true, signal };
    try {
      const [entry, around] = await Promise.all([
        client.getMember(q.board, player.member, options),
        isPrivate ? client.getAround(q.board, player.member, { ...options, before: 5, after: 5 }) : undefined,
      ]);
      [this.#entry, this.#of, this.note] = [entry, keyOf(q), ""];
      this.around = around?.entries ?? [];
    } catch (error) {
      if (signal.aborted || player !== this.#player) return;
      if (!(error instanceof ProblemError)) return; // what is shown stays, it is asked again
      if (error.status === 429 || error.status >= 500) return;
      [this.#entry, this.#of, this.around] = [undefined, "", []];
      if (error.status === 401) {
        this.#player = undefined;
        keep(undefined);
        this.note = "Your sign-in has ended: this is what everybody sees.";
      } else if (error.code === "not-ranked") this.note = "You have no entry here yet.";
      else this.note = error.code === "board-not-found" ? "" : words(error); // there is another text about that
    }
  }
}

const keyOf = (q: Question) => JSON.stringify([q.board, q.window, q.period, q.mode]);
