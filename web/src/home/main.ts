import { mount } from "svelte";
import "../shared/base.css";
import "../shared/site.css";
import "./home.css";
import { reloadLater, server, wasTold } from "../shared/server";
import App from "./App.svelte";

// The page as the server sent it stays in view until this one has something to show.
const target = document.getElementById("app");
const asked = new URLSearchParams(location.search);
const labels = asked.get("labels") || undefined;
if (target && wasTold) {
  try {
    const client = server({ maxWait: 0 });
    const list = await client.listBoards({ limit: 24, labels, cursor: asked.get("cursor") || undefined });
    const tops = await Promise.all(list.boards.map((b) => client.getTop(b.name, { limit: 3, profiles: true }).catch(() => undefined)));
    target.replaceChildren();
    mount(App, { target, props: { boards: list.boards, tops, labels, next: list.next_cursor } });
  } catch {
    reloadLater(); // the page of the server gives the reason, and its links work
  }
} else reloadLater();
