import { mount } from "svelte";
import "../shared/base.css";
import "./console.css";
import App from "./App.svelte";

// The console replaces the whole page, because its header stands next to main, not inside it.
document.body.replaceChildren();
mount(App, { target: document.body });
