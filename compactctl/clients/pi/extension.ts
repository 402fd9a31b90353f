// Written by compactctl client integrate, sha256 @DIGEST@: after a compaction, a message says what was lost.
import { spawn } from "node:child_process";

const told = (input: object): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn("@COMPACTCTL@ client hook pi", { shell: true, stdio: ["pipe", "pipe", "ignore"] });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(said.trim()));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
  });

export default (pi: any) =>
  pi.on("session_compact", async (_event: any, ctx: any) => {
    const path = ctx.sessionManager.getSessionFile();
    if (!path) return;
    const id = ctx.sessionManager.getSessionId();
    const content = await told({ hook_event_name: "PostCompact", session_id: id, transcript_path: path });
    if (!content) return;
    try {
      pi.sendMessage({ customType: "compactctl", content, display: true }, { deliverAs: "nextTurn" });
    } catch {
      // The session was left meanwhile.
    }
  });
