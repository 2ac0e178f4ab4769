import { mount } from "svelte";
import "../shared/base.css";
import App from "./App.svelte";

// The page as the server sent it stays in view until this one has something to show.
const target = document.getElementById("app");
if (target) {
  target.replaceChildren();
  mount(App, { target });
}
