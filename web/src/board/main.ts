import { mount } from "svelte";
import "../shared/base.css";
import "../shared/site.css";
import "./board.css";
import { reloadLater, server, wasTold } from "../shared/server";
import { readQuestion } from "./address";
import App from "./App.svelte";
import { ask } from "./live.svelte";
import Private from "./Private.svelte";
import { You } from "./you.svelte";

// The page as the server sent it stays in view until this one has something to show.
const target = document.getElementById("app");
const you = new You(readQuestion(location));
if (target && wasTold) {
  let question = readQuestion(location);
  try {
    const board = await server({ maxWait: 0 }).getBoard(question.board);
    const everybody = { ...question, among: "" };
    if (!you.hasFriends) question = everybody;
    const first = await ask(question, you).catch((error: unknown) => {
      if (!question.among) throw error;
      question = everybody; // which the server asked for already
      return ask(question, you);
    });
    target.replaceChildren();
    mount(App, { target, props: { board, first, start: question, you } });
  } catch {
    reloadLater(); // the page of the server gives the reason, and its links work
  }
} else if (target && you.member && !document.querySelector("[data-again]")) {
  // The server has nothing for anybody here. A private board may have something for a player.
  const question = readQuestion(location);
  await you.look(question, true, new AbortController().signal);
  if (you.member && (you.entry(question) || you.note)) {
    target.replaceChildren();
    mount(Private, { target, props: { you, q: question } });
  } else if (you.note) {
    const note = Object.assign(document.createElement("p"), { className: "card note own", role: "status", textContent: you.note });
    target.prepend(note);
  }
} else reloadLater();
