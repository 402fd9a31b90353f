// Written by compactctl client integrate, sha256 @DIGEST@: after a compaction, a message says what was lost.
import { spawn } from "node:child_process"

const told = (input) =>
  new Promise((resolve) => {
    const child = spawn("@COMPACTCTL@ client hook opencode", { shell: true, stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    child.stdout.on("data", (data) => (said += data))
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(said.trim()))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })

export const compactctl = async ({ client }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.compacted") return
    const session = event.properties.sessionID
    const message = await told({
      hook_event_name: "PostCompact",
      session_id: session,
      transcript_path: `opencode:${session}`,
    })
    if (message) await client.tui.showToast({ body: { message, variant: "info" } }).catch(() => {})
  },
})
