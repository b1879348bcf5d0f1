/// <reference types="vitest/config" />
// How the dashboard is built: fixed names, no chunks, and each file compressed beside itself.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** Writes `NAME.gz` beside every file that was built. */
const packed = (): Plugin => {
  let place = "";
  return {
    name: "packed",
    apply: "build",
    configResolved(config) {
      place = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(place).filter((name) => !name.endsWith(".gz"))) {
        writeFileSync(join(place, `${name}.gz`), gzipSync(readFileSync(join(place, name)), { level: 9 }));
      }
    },
  };
};

export default defineConfig({
  plugins: [packed()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    target: "es2022",
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        assetFileNames: "app[extname]",
        codeSplitting: false,
      },
    },
  },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"] },
});
