import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Each page has a separate entry. The build is committed, and package pages embeds it.
export default defineConfig({
  plugins: [svelte()],
  base: "./", // the build works below any path
  resolve: { alias: { "@leaderboard/client": here("../clients/typescript/src/index.ts") } },
  build: {
    outDir: here("../features/pages/built"),
    emptyOutDir: true,
    assetsDir: ".",
    assetsInlineLimit: 0,
    manifest: "manifest.json",
    license: { fileName: "licenses.json" }, // of the packages that end up in the pages; workshop/release puts them into the archives
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: {
      input: { home: here("src/home/main.ts"), board: here("src/board/main.ts"), console: here("src/console/main.ts") },
    },
  },
});
