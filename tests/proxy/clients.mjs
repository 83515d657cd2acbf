// Real JavaScript clients, unmodified: one line of JSON for each question.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.MODULES + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const QUESTIONS = ["honest", "lie", "stubborn", "tool", "unknown"];
const SCHEMA = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const RESULT = JSON.stringify({ id: 7, status: "shipped", note: "shipped-by-tool" });

async function chat(question, how) {
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user", content: question }];
  const tools = [
    { type: "function", function: { name: "get_order", description: "Looks up.", parameters: SCHEMA } },
  ];
  const called = [];
  const texts = [];
  for (let turn = 0; turn < 3; turn++) {
    const asked = { model: "m-1", messages, tools };
    const completion =
      how === "stream"
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked);
    const message = completion.choices[0].message;
    texts.push(message.content ?? "");
    if (!message.tool_calls?.length) return [texts.join("\n"), called];
    messages.push({ role: "assistant", content: message.content, tool_calls: message.tool_calls });
    for (const call of message.tool_calls) {
      called.push(call.function.name);
      messages.push({ role: "tool", tool_call_id: call.id, content: RESULT });
    }
  }
  throw new Error("it never ends");
}

async function anthropic(question, how) {
  const { default: Anthropic } = await load("@anthropic-ai/sdk");
  const client = new Anthropic({ apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user", content: question }];
  const tools = [{ name: "get_order", description: "Looks up.", input_schema: SCHEMA }];
  const called = [];
  const texts = [];
  for (let turn = 0; turn < 3; turn++) {
    const asked = { model: "m-1", max_tokens: 100, messages, tools };
    const message =
      how === "stream"
        ? await client.messages.stream(asked).finalMessage()
        : await client.messages.create(asked);
    texts.push(...message.content.filter((b) => b.type === "text").map((b) => b.text));
    const calls = message.content.filter((b) => b.type === "tool_use");
    if (!calls.length) return [texts.join("\n"), called];
    messages.push({ role: "assistant", content: message.content });
    called.push(...calls.map((call) => call.name));
    const results = calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: RESULT }));
    messages.push({ role: "user", content: results });
  }
  throw new Error("it never ends");
}

function vercel(make) {
  return async (question, how) => {
    const { generateText, streamText, tool, jsonSchema, stepCountIs } = await load("ai");
    const called = [];
    const get_order = tool({
      description: "Looks up.",
      inputSchema: jsonSchema(SCHEMA),
      execute: async () => {
        called.push("get_order");
        return RESULT;
      },
    });
    const asked = {
      model: await make(),
      prompt: question,
      tools: { get_order },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    };
    if (how === "whole") {
      const { steps } = await generateText(asked);
      return [steps.map((step) => step.text).join("\n"), called];
    }
    let failed = null;
    const result = streamText({ ...asked, onError: ({ error }) => (failed = error) });
    const steps = await result.steps;
    if (failed) throw failed;
    return [steps.map((step) => step.text).join("\n"), called];
  };
}

const openai = async (kind) => {
  const { createOpenAI } = await load("@ai-sdk/openai");
  return createOpenAI({ apiKey: "none", baseURL: process.env.OPENAI_BASE_URL })[kind]("m-1");
};

const CLIENTS = {
  "openai (JavaScript)": chat,
  "anthropic (JavaScript)": anthropic,
  "Vercel AI SDK, chat": vercel(() => openai("chat")),
  "Vercel AI SDK, responses": vercel(() => openai("responses")),
  "Vercel AI SDK, Anthropic": vercel(async () => {
    const { createAnthropic } = await load("@ai-sdk/anthropic");
    return createAnthropic({ apiKey: "none", baseURL: process.env.ANTHROPIC_BASE_URL + "/v1" })("m-1");
  }),
};

for (const [client, ask] of Object.entries(CLIENTS)) {
  for (const question of QUESTIONS) {
    for (const how of ["whole", "stream"]) {
      let line;
      try {
        const [text, called] = await ask(question, how);
        line = { text, called };
      } catch (error) {
        line = { error: `${error.name}: ${error.message}` };
      }
      console.log(JSON.stringify({ client, question, how, ...line }));
    }
  }
}
