// Answers questions with NeuroLink's own functions: one JSON line in, one JSON line out.
//
//     node neurolink.mjs PACKAGE/dist
//
// A question is {"area": …, …}, and the answer names messages by their positions in the question.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const dist = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, dist));
const tokens = await load("utils/tokenEstimation.js");
const windows = await load("constants/contextWindows.js");
const { checkContextBudget } = await load("context/budgetChecker.js");
const { ContextCompactor } = await load("context/contextCompactor.js");
const history = await load("context/effectiveHistory.js");
const errors = await load("context/errorDetection.js");
const files = await load("context/fileTokenBudget.js");
const { generateToolOutputPreview } = await load("context/toolOutputLimits.js");
const { repairToolPairs } = await load("context/toolPairRepair.js");
const { pruneToolOutputs } = await load("context/stages/toolOutputPruner.js");
const { deduplicateFileReads } = await load("context/stages/fileReadDeduplicator.js");
const { truncateWithSlidingWindow } = await load("context/stages/slidingWindowTruncator.js");
const { summarizeMessages } = await load("context/stages/structuredSummarizer.js");

// What became of a conversation: the position of each message that stayed as it was, [position,
// content] of one with another content, and [null, content, role] of one that was written.
function outcome(before, after) {
  const positions = new Map(before.map((message, index) => [message.id, index]));
  return after.map(({ id, content, role }) => {
    const index = positions.get(id);
    if (index === undefined) return [null, content, role];
    return before[index].content === content ? index : [index, content];
  });
}

// An error as a client throws it; JSON has no Error.
function thrown({ message, cause }) {
  return new Error(message, cause === undefined ? {} : { cause: new Error(cause) });
}

const areas = {
  tokens: ({ texts, provider }) => texts.map((text) => tokens.estimateTokens(text, provider)),
  conversation: ({ messages, provider }) => tokens.estimateMessagesTokens(messages, provider),
  window: ({ provider, model, maxTokens }) => [
    windows.getContextWindowSize(provider, model),
    windows.getAvailableInputTokens(provider, model, maxTokens),
  ],
  budget: ({ request }) => checkContextBudget(request),
  prune: ({ messages, config }) => {
    const { messages: after, tokensSaved } = pruneToolOutputs(messages, config);
    return { after: outcome(messages, after), tokensSaved };
  },
  dedup: ({ messages }) => {
    const { messages: after, filesDeduped } = deduplicateFileReads(messages);
    return { after: outcome(messages, after), filesDeduped };
  },
  summarize: async ({ messages, config, summary }) => {
    globalThis.summary = summary;
    const { messages: after } = await summarizeMessages(messages, config);
    return { after: outcome(messages, after) };
  },
  truncate: ({ messages, config }) => {
    const { messages: after, messagesRemoved, truncated } = truncateWithSlidingWindow(messages, {
      currentTokens: tokens.estimateMessagesTokens(messages, config.provider),
      ...config,
    });
    return { after: outcome(messages, truncated ? after : messages), messagesRemoved };
  },
  repair: ({ messages }) => {
    const { messages: after, orphanedCallsFixed, orphanedResultsFixed } = repairToolPairs(messages);
    return { after: outcome(messages, after), orphanedCallsFixed, orphanedResultsFixed };
  },
  effective: ({ messages }) => outcome(messages, history.getEffectiveHistory(messages)),
  untag: ({ messages, kind, group }) => {
    const remove = { condense: "removeCondensationTags", truncate: "removeTruncationTags" }[kind];
    return outcome(messages, history.getEffectiveHistory(history[remove](messages, group)));
  },
  compact: async ({ messages, config, target, summary }) => {
    globalThis.summary = summary;
    const result = await new ContextCompactor(config).compact(messages, target);
    const { stagesUsed, tokensBefore, tokensAfter } = result;
    return { after: outcome(messages, result.messages), stagesUsed, tokensBefore, tokensAfter };
  },
  output: ({ text, options }) => generateToolOutputPreview(text, options),
  "file-budget": ({ window, used, maxTokens }) =>
    files.calculateFileTokenBudget(window, used, maxTokens),
  file: ({ size, budget }) => files.shouldTruncateFile(size, budget),
  files: ({ sizes, available }) => {
    const { included, notices } = files.enforceAggregateFileBudget(sizes, available);
    return { included: included.map((file) => file.name), notices };
  },
  error: ({ error, isThrown }) => {
    const value = isThrown ? thrown(error) : error;
    const figures = errors.parseProviderOverflowDetails(value);
    return {
      overflow: errors.isContextOverflowError(value),
      provider: errors.getContextOverflowProvider(value),
      figures: figures && [figures.actualTokens, figures.budgetTokens],
    };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await areas[question.area](question))}\n`);
}
