import { ProblemError, type Schemas } from "@leaderboard/client";
import { untrack } from "svelte";
import { server, words } from "../shared/server";
import { chosen, isAround, sides, type Question } from "./address";
import type { You } from "./you.svelte";

/** A page of the ranking; of one among friends there is more to say. */
export type Top = Schemas["TopAnswer"] & Partial<Pick<Schemas["FriendsAnswer"], "friends" | "ranked" | "self">>;
export type Entry = Schemas["RankedEntry"] & { position?: number };
export type Profile = Schemas["Profile"];

/** unnamed is shown for a member while its name is being loaded, so that the id does not flash. */
export const unnamed: Profile = { display_name: "…", avatar_url: "", attributes: {} };

/** Milliseconds between two looks at a page that no stream sends. */
export const pollEvery = 5000;
/** Milliseconds between two looks at profiles. */
const profilesEvery = 2000;
/** Milliseconds that a page nobody sees keeps its stream. */
const hiddenFor = 30_000;

/** ask asks for the page of the ranking, or for the neighbours of a member, in whose absence it is the page. */
export async function ask(q: Question, you: You, signal?: AbortSignal, client = server({ maxWait: 0 })): Promise<Top> {
  if (q.among) return you.friends(q, signal);
  if (isAround(q)) {
    try {
      return await client.getAround(q.board, q.member, { ...sides(q), ...chosen(q), profiles: true, signal });
    } catch (error) {
      if (!(error instanceof ProblemError && error.code === "not-ranked")) throw error;
    }
  }
  return client.getTop(q.board, { limit: q.limit, offset: q.offset || undefined, ...chosen(q), profiles: true, signal });
}

/** placeOf is the place of an entry on the page: among friends where these are shown, else on the board. */
export const placeOf = (e: Entry) => e.position ?? e.rank!;

/** countOf is how many entries the pages have together. */
export const countOf = (page: Top) => page.ranked ?? page.total;

/** The page of the ranking that is looked at, as it changes. */
export class Live {
  /** The newest page. */
  page = $state.raw<Top>();
  /** The question that it answers. Another one may have been asked since. */
  answers: Question;
  /** Profiles of members that have been seen, by id. */
  profiles = $state.raw<ReadonlyMap<string, Profile>>(new Map());
  /** The server cannot be reached, and is tried again. */
  lost = $state(false);
  /** Why there is no page. */
  problem = $state("");

  #you: You;
  #seen = new Set<string>();
  #run = new AbortController();
  #profilesAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(q: Question, first: Top, you: You) {
    this.#you = you;
    this.answers = $state.raw(q);
    this.#take(q, first);
  }

  /** follow shows the answers to a question from now on, in place of the question before. */
  follow(q: Question, first: boolean): void {
    this.stop();
    this.#run = new AbortController();
    this.problem = "";
    this.#follow(q, first, this.#run.signal).catch((error: unknown) => this.#ended(error));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#run.abort();
    this.#learn(); // names that were being asked for
  }

  async #follow(q: Question, first: boolean, signal: AbortSignal): Promise<void> {
    const client = server({ onRetry: () => (this.lost = true), maxWait: Infinity });
    if (!first) {
      this.#take(q, await ask(q, this.#you, signal, client));
    }
    if (!q.among && q.offset === 0 && (q.period === "" || q.period === "current")) {
      const { window, mode } = chosen(q);
      const options = { window, mode, signal, maxWait: Infinity };
      const pages: AsyncIterable<Top> = isAround(q) ? client.streamPage(q.board, { ...options, ...sides(q), member: q.member }) : client.streamPage(q.board, { ...options, limit: q.limit });
      for await (const page of pages) {
        if (isAround(q) && page.entries.length === 0) continue; // the member has no entry yet
        this.#show(q, page);
        this.#askForProfiles(q, signal);
      }
    }
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pollEvery));
      signal.throwIfAborted();
      if (document.hidden) continue;
      this.#take(q, await ask(q, this.#you, signal, client));
    }
  }

  /** take shows a page that was asked for with profiles. */
  #take(q: Question, page: Top): void {
    this.#learn(page);
    this.#show(q, page);
  }

  #show(q: Question, page: Top): void {
    this.lost = false;
    this.answers = q;
    this.page = page;
  }

  /** learn takes the profiles of a page; without one, ids are shown. */
  #learn(page?: Top): void {
    const asked = new Set(page?.entries.map((e) => e.member));
    for (const member of asked) this.#seen.add(member);
    const known = [...untrack(() => this.profiles)].filter(([member, profile]) => profile !== unnamed || (page && !asked.has(member)));
    this.profiles = new Map([...known, ...(page?.entries ?? []).flatMap((e) => (e.profile ? [[e.member, e.profile] as const] : []))]);
  }

  /** askForProfiles asks for the profiles of members who are new on the page. The stream does not send profiles. */
  #askForProfiles(q: Question, signal: AbortSignal): void {
    const news = this.page!.entries.filter((e) => !this.#seen.has(e.member));
    if (news.length === 0) return;
    if (this.profiles.size > 0) this.profiles = new Map([...news.map((e) => [e.member, unnamed] as const), ...this.profiles]);
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      this.#profilesAt = Date.now();
      this.#learn(await ask(q, this.#you, signal).catch(() => undefined)); // names can wait
    }, Math.max(0, this.#profilesAt + profilesEvery - Date.now()));
  }

  #ended(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.problem = words(error);
    if (error instanceof ProblemError && error.code === "board-not-found") this.page = undefined;
  }
}

/** whileSeen calls pause when nobody has seen the page for a while, and go when somebody does again. */
export function whileSeen(pause: () => void, go: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paused = false;
  const change = () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        paused = true;
        pause();
      }, hiddenFor);
    } else if (paused) {
      paused = false;
      go();
    }
  };
  document.addEventListener("visibilitychange", change);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", change);
  };
}
