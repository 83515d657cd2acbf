#!/usr/bin/env node
// Runs the program of this platform, which an optional dependency brought.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const PLATFORMS = { "linux x64": "linux-x64", "linux arm64": "linux-arm64" };

function program() {
  const named = process.env.COUNTERFOIL_PROGRAM;
  if (named) return named;
  const platform = PLATFORMS[`${process.platform} ${process.arch}`];
  if (!platform) {
    throw new Error(`there is no program for ${process.platform} ${process.arch} yet`);
  }
  try {
    return require.resolve(`@counterfoil/${platform}/bin/counterfoil`);
  } catch {
    throw new Error(
      `the package @counterfoil/${platform} is missing\n` +
        "  help: install again without `--no-optional` and `--omit=optional`",
    );
  }
}

function main() {
  let path;
  try {
    path = program();
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exit(2);
  }
  const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  // A signal to this process is meant for that one.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`error: ${path} cannot be run: ${error.message}`);
    process.exit(2);
  });
  child.on("exit", (code, signal) => {
    process.exit(signal ? 128 + constants.signals[signal] : code);
  });
}

main();
