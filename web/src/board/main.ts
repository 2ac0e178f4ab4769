import { mount } from "svelte";
import "../shared/base.css";
import "../shared/site.css";
import "./board.css";
import { reloadLater, server, wasTold } from "../shared/server";
import { readQuestion } from "./address";
import App from "./App.svelte";
import { ask } from "./live.svelte";

// The page as the server sent it stays in view until this one has something to show.
const target = document.getElementById("app");
if (target && wasTold) {
  const question = readQuestion(location);
  try {
    const board = await server({ maxWait: 0 }).getBoard(question.board);
    const first = await ask(question);
    target.replaceChildren();
    mount(App, { target, props: { board, first, start: question } });
  } catch {
    reloadLater(); // what the server made says why, and has links that work
  }
} else reloadLater();
