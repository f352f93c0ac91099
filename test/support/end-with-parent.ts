/** Loaded into every process that a test starts: it must not outlive a test that was killed, and must not wait for it either. */
if (process.channel !== undefined) {
  process.once("disconnect", () => process.exit(1));
  process.channel.unref();
}
