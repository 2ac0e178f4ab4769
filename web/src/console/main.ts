import { mount } from "svelte";
import "../shared/base.css";
import "./console.css";
import App from "./App.svelte";

// The console takes the whole page: its header stands beside main, not in it.
document.body.replaceChildren();
mount(App, { target: document.body });
