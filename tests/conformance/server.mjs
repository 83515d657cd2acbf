#!/usr/bin/env node
// A small reference MCP server for the official conformance suite. It speaks two wire generations:
//   legacy (2025-03-26 to 2025-11-25): `initialize`, sessions, server-to-client requests, resumable streams;
//   modern (2026-07-28): stateless requests that carry everything in `_meta`, `input_required` results, tasks.
// Usage:  node server.mjs --port N   prints the URL of its endpoint, then serves HTTP until killed (0 = any port)
//         node server.mjs --stdio    serves both wires over standard input and output, one JSON message a line

import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const SERVER_INFO = { name: 'conformance-reference-server', version: '1.0.0' };
const MODERN_VERSIONS = ['2026-07-28'];
const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26']; // newest first

// Keys of `_meta` on the modern wire, and the name of the tasks extension.
const reserved = (name) => `io.modelcontextprotocol/${name}`;
const [META_VERSION, META_CAPABILITIES, META_LOG_LEVEL] = ['protocolVersion', 'clientCapabilities', 'logLevel'].map(reserved);
const [META_SERVER_INFO, META_SUBSCRIPTION_ID, TASKS_EXTENSION] = ['serverInfo', 'subscriptionId', 'tasks'].map(reserved);

// ---------------------------------------------------------------- errors

const [INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, PARSE_ERROR] = [-32600, -32601, -32602, -32603, -32700];
const [HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION] = [-32020, -32021, -32022]; // modern wire only
const RESOURCE_NOT_FOUND = -32002; // legacy wire only

class RpcError extends Error {
  // `status` is the HTTP status for errors found before a request reaches its method.
  constructor(code, message, { data, status = 400 } = {}) {
    super(message);
    Object.assign(this, { code, data, status });
  }
}

function errorResponse(id, error) {
  const { code, data } = error instanceof RpcError ? error : { code: INTERNAL_ERROR };
  return { jsonrpc: '2.0', id, error: { code, message: error.message, ...(data !== undefined && { data }) } };
}

const missingCapability = (requiredCapabilities) =>
  new RpcError(MISSING_CAPABILITY, 'The client did not declare a capability that the request needs', { data: { requiredCapabilities } });

// ---------------------------------------------------------------- content

const RED_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const SILENCE = 'UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA';

const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: RED_PIXEL, mimeType: 'image/png' };
const audio = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' };
const embedded = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });

const say = (...parts) => ({ content: parts.map((part) => (typeof part === 'string' ? text(part) : part)) });
const toolFailure = (message) => ({ ...say(message), isError: true });

const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const STRING = { type: 'string' };

// The three things a server can ask of a client. The legacy wire sends them as requests of their
// own, the modern wire puts them into an `input_required` result or into a task.
const INPUT_KINDS = {
  'elicitation/create': { capability: 'elicitation', isAnswer: (it) => ['accept', 'decline', 'cancel'].includes(it.action) },
  'sampling/createMessage': { capability: 'sampling', isAnswer: (it) => typeof it.model === 'string' && typeof it.content === 'object' },
  'roots/list': { capability: 'roots', isAnswer: (it) => Array.isArray(it.roots) },
};

const elicit = (message, properties, required) =>
  ({ method: 'elicitation/create', params: { message, requestedSchema: object(properties, required) } });
const sample = (prompt, maxTokens = 100) =>
  ({ method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens } });

const describe = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;

// ---------------------------------------------------------------- notifications during a call

const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const notification = (method, params) => ({ jsonrpc: '2.0', method, params });

// Without a log level (a modern request that did not ask for logs) nothing is sent.
function log(call, level, data) {
  if (call.logLevel === undefined || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(call.logLevel)) return;
  call.send(notification('notifications/message', { level, logger: SERVER_INFO.name, data }));
}

function report(call, progress, total) {
  if (call.progressToken === undefined) return;
  call.send(notification('notifications/progress', { progressToken: call.progressToken, progress, total }));
}

// ---------------------------------------------------------------- notifications about changes

// Each listener has `wants(kind, uri)` and `notify(method, params)`: a legacy session or a modern subscription.
const listeners = new Set();
const CHANGES = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourceSubscriptions: 'notifications/resources/updated',
};

function announce(kind, params = {}) {
  for (const listener of listeners) if (listener.wants(kind, params.uri)) listener.notify(CHANGES[kind], params);
}

// Names of tools and prompts that are not listed now; the trigger tools switch them.
const hidden = new Set(['test_dynamic_tool', 'test_dynamic_prompt']);
const visible = (items) => items.filter((item) => !hidden.has(item.name));

function toggle(name, kind) {
  if (!hidden.delete(name)) hidden.add(name);
  announce(kind);
  return say(`${name} is now ${hidden.has(name) ? 'hidden' : 'listed'}`);
}

// ---------------------------------------------------------------- tools

const pause = (call, ms) => sleep(ms, undefined, { signal: call.signal });

async function runWithLogs(_args, call) {
  for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    log(call, 'info', step);
    await pause(call, 50);
  }
  return say('Sent three log messages, if logging is on');
}

async function runWithProgress(_args, call) {
  for (const progress of [0, 50, 100]) {
    report(call, progress, 100);
    await pause(call, 50);
  }
  return say('Reported progress three times, if there is a progress token');
}

const askName = { user_name: elicit('What is your name?', { name: STRING }) };
const askGreeting = { greeting: sample('Generate a greeting', 50) };
const askRoots = { client_roots: { method: 'roots/list', params: {} } };
const confirmation = elicit('Please confirm', { ok: { type: 'boolean' } });
const greetUser = ({ user_name }) => `Hello, ${user_name.content?.name ?? 'stranger'}!`;

const asking = (question, options) => async (_args, call) => {
  const { confirm } = await call.ask({ confirm: question }, options);
  return say(`${options?.withState ? 'state-ok: ' : ''}${describe(confirm)}`);
};

// One value of each primitive type with a default, and every kind of choice between strings.
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const UNTITLED = { type: 'string', enum: ['option1', 'option2', 'option3'] };
const TITLED = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title: `${title} option` }));
const CHOICES = {
  untitledSingle: UNTITLED,
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: UNTITLED },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

const JSON_SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: STRING, city: STRING } } },
  properties: { name: STRING, address: { $ref: '#/$defs/address' }, contactMethod: { enum: ['phone', 'email'] }, phone: STRING, email: STRING },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const echo = (args) => say(JSON.stringify(args));
const mirrored = (type, header) => ({ type, 'x-mcp-header': header });
const MIRRORED = { region: mirrored('string', 'Region'), priority: mirrored('integer', 'Priority'), verbose: mirrored('boolean', 'Verbose') };

// `run(args, call)` returns a result or throws; an ordinary error becomes a result with `isError`.
// A tool with `task` runs as a task if the client declared the extension. Its `gather(args, call)`,
// if it has one, runs before the task is created, and `run` gets what it returned as a third argument.
const tool = (name, description, run, { input = object(), task, gather } = {}) => ({ name, description, run, inputSchema: input, task, gather });

const TOOLS = [
  // Kinds of content
  tool('test_simple_text', 'Returns a text', () => say('This is a simple text response for testing.')),
  tool('test_image_content', 'Returns an image', () => say(image)),
  tool('test_audio_content', 'Returns a sound', () => say(audio)),
  tool('test_embedded_resource', 'Returns an embedded resource', () =>
    say(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'))),
  tool('test_multiple_content_types', 'Returns a text, an image and a resource', () =>
    say('Multiple content types test:', image, embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'))),
  tool('test_error_handling', 'Always fails', () => {
    throw new Error('This tool intentionally returns an error for testing');
  }),

  // Messages before the result
  tool('test_tool_with_logging', 'Sends three log messages', runWithLogs),
  tool('test_logging_tool', 'Sends log messages, on the modern wire only to a request that asks for them', runWithLogs),
  tool('test_tool_with_progress', 'Reports progress three times', runWithProgress),
  tool('test_reconnection', 'Closes its stream before the result; a legacy client reconnects to get it', async (_args, call) => {
    if (!call.modern) call.dropStream();
    await pause(call, 200);
    return say('Reconnection test completed successfully');
  }),

  // Input schemas
  tool('json_schema_2020_12_tool', 'Has an input schema with JSON Schema 2020-12 keywords', echo, { input: JSON_SCHEMA_2020_12 }),
  tool('test_custom_header', 'Wants its arguments repeated in HTTP headers', echo, { input: object(MIRRORED, ['region']) }),

  // Questions to the client
  tool('test_sampling', "Asks the client's language model", async ({ prompt }, call) => {
    const { reply } = await call.ask({ reply: sample(prompt) });
    return say(`LLM response: ${[reply.content].flat().map((part) => part.text).join('')}`);
  }, { input: object({ prompt: STRING }) }),
  tool('test_elicitation', 'Asks the user for a name and an e-mail address', async ({ message }, call) => {
    const { reply } = await call.ask({ reply: elicit(message, { username: STRING, email: STRING }) });
    return say(`User response: ${describe(reply)}`);
  }, { input: object({ message: STRING }) }),
  tool('test_elicitation_sep1034_defaults', 'Asks the user with a default for every type', asking(elicit('Check these values', DEFAULTS, []))),
  tool('test_elicitation_sep1330_enums', 'Asks the user with every kind of choice', asking(elicit('Choose', CHOICES, []))),
  tool('test_streaming_elicitation', 'Asks the user after it has reported progress', (args, call) => {
    report(call, 1, 2);
    return asking(confirmation)(args, call);
  }),
  tool('test_missing_capability', 'Cannot run without sampling', async (_args, call) => {
    const { greeting } = await call.ask(askGreeting);
    return say(`Answered by ${greeting.model}`);
  }),
  tool('test_input_required_result_elicitation', 'Needs an answer of the user', async (_args, call) => say(greetUser(await call.ask(askName)))),
  tool('test_input_required_result_sampling', 'Needs an answer of the language model', async (_args, call) => {
    const { capital_question } = await call.ask({ capital_question: sample('What is the capital of France?') });
    return say(`The model said: ${JSON.stringify(capital_question.content)}`);
  }),
  tool('test_input_required_result_list_roots', "Needs the client's roots", async (_args, call) => {
    const { client_roots } = await call.ask(askRoots);
    return say(`Roots: ${client_roots.roots.map((root) => root.uri).join(', ')}`);
  }),
  tool('test_input_required_result_request_state', 'Accepts an answer only with the state it handed out', asking(confirmation, { withState: true })),
  tool('test_input_required_result_tampered_state', 'Refuses a state that was changed', asking(confirmation, { withState: true })),
  tool('test_input_required_result_multiple_inputs', 'Needs three answers at once', async (_args, call) => {
    const answers = await call.ask({ ...askName, ...askGreeting, ...askRoots }, { withState: true });
    return say(`${greetUser(answers)} You have ${answers.client_roots.roots.length} root(s).`);
  }),
  tool('test_input_required_result_multi_round', 'Asks two questions one after the other', async (_args, call) => {
    const { step1 } = await call.ask({ step1: elicit('Step 1: What is your name?', { name: STRING }) }, { withState: true });
    const { step2 } = await call.ask({ step2: elicit('Step 2: What is your favorite color?', { color: STRING }) }, { withState: true });
    return say(`${step1.content?.name} likes ${step2.content?.color}`);
  }),
  tool('test_input_required_result_capabilities', 'Asks only what the client can answer', async (_args, call) => {
    const questions = Object.entries({ ...askName, ...askGreeting, ...askRoots });
    const possible = questions.filter(([, { method }]) => call.capabilities[INPUT_KINDS[method].capability]);
    return say(`Answered: ${Object.keys(await call.ask(Object.fromEntries(possible))).join(', ')}`);
  }),

  // Changes
  tool('test_trigger_tool_change', 'Lists or hides a tool', () => toggle('test_dynamic_tool', 'toolsListChanged')),
  tool('test_trigger_prompt_change', 'Lists or hides a prompt', () => toggle('test_dynamic_prompt', 'promptsListChanged')),
  tool('test_trigger_resource_change', 'Changes test://watched-resource', () => {
    watchedVersion += 1;
    announce('resourceSubscriptions', { uri: 'test://watched-resource' });
    return say(`test://watched-resource is at version ${watchedVersion}`);
  }),
  tool('test_dynamic_tool', 'Is listed only at times', () => say('This tool is listed now')),

  // Tasks
  tool('greet', 'Greets by name', ({ name }) => say(`Hello, ${name}!`), { input: object({ name: STRING }) }),
  tool('slow_compute', 'Takes its time', async ({ seconds, label = 'unnamed' }, call) => {
    await pause(call, seconds * 1000);
    return say(`Computed ${label} in ${seconds} s`);
  }, { input: object({ seconds: { type: 'number' }, label: STRING }, ['seconds']), task: 'optional' }),
  tool('failing_job', 'Fails after a second', async (_args, call) => {
    await pause(call, 1000);
    throw new Error('The job failed');
  }, { task: 'required' }),
  tool('protocol_error_job', 'Breaks down with a protocol error', () => {
    throw new RpcError(INTERNAL_ERROR, 'The job broke down');
  }, { task: 'optional' }),
  tool('confirm_delete', 'Asks before it (does not really) delete a file', async ({ filename }, call) => {
    const { confirm } = await call.ask({ confirm: elicit(`Delete ${filename}?`, { confirm: { type: 'boolean' } }) });
    return say(confirm.content?.confirm === true ? `Deleted ${filename}` : `Kept ${filename}`);
  }, { input: object({ filename: STRING }), task: 'optional' }),
  tool('multi_input', 'Asks two questions at the same time', async (_args, call) => {
    const answers = await call.ask({ first: elicit('First name?', { name: STRING }), second: elicit('Second name?', { name: STRING }) });
    return say(`First: ${describe(answers.first)}; second: ${describe(answers.second)}`);
  }, { task: 'optional' }),
  tool('test_tool_with_task', 'Asks first, then goes on as a task', (_args, _call, answers) => say(greetUser(answers)), {
    task: 'required',
    gather: (_args, call) => call.ask(askName, { withState: true }),
  }),
];

async function callTool({ name, arguments: args = {} }, call) {
  const { inputSchema, task, gather, run } = visible(TOOLS).find((it) => it.name === name) ?? {};
  if (!run) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`);
  const absent = inputSchema.required?.find((argument) => args?.[argument] === undefined);
  if (absent) return toolFailure(`Missing argument: ${absent}`);

  const asTask = call.modern && task !== undefined && hasTasks(call);
  if (call.modern && task === 'required' && !asTask) throw missingCapability(NEEDS_TASKS);
  const attempt = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RpcError || error instanceof InputRequired) throw error;
      return toolFailure(error.message);
    }
  };
  return attempt(async () => {
    const gathered = await gather?.(args, call);
    return asTask ? startTask((context) => attempt(() => run(args, context, gathered)), call) : run(args, call, gathered);
  });
}

// ---------------------------------------------------------------- prompts and resources

const user = (content) => ({ role: 'user', content });

const prompt = (name, description, messages, needed = []) =>
  ({ name, description, messages, arguments: needed.map((argument) => ({ name: argument, required: true })) });

const PROMPTS = [
  prompt('test_simple_prompt', 'Has no arguments', () => [user(text('This is a simple prompt for testing.'))]),
  prompt('test_prompt_with_arguments', 'Has two arguments', ({ arg1, arg2 }) =>
    [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))], ['arg1', 'arg2']),
  prompt('test_prompt_with_embedded_resource', 'Contains a resource', ({ resourceUri }) => [
    user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
    user(text('Please process the embedded resource above.')),
  ], ['resourceUri']),
  prompt('test_prompt_with_image', 'Contains an image', () => [user(image), user(text('Please analyze the image above.'))]),
  prompt('test_input_required_result_prompt', 'Needs an answer of the user', async (_args, call) => {
    const { user_context } = await call.ask({ user_context: elicit('What context should the prompt use?', { context: STRING }) });
    return [user(text(`Context: ${user_context.content?.context}`))];
  }),
  prompt('test_dynamic_prompt', 'Is listed only at times', () => [user(text('This prompt is listed now'))]),
];

async function getPrompt({ name, arguments: args = {} }, call) {
  const found = visible(PROMPTS).find((it) => it.name === name);
  if (!found) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}`);
  const absent = found.arguments.find((it) => args[it.name] === undefined);
  if (absent) throw new RpcError(INVALID_PARAMS, `Missing argument: ${absent.name}`);
  return { description: found.description, messages: await found.messages(args, call) };
}

let watchedVersion = 1;
const resource = (name, description, mimeType, read) => ({ uri: `test://${name}`, name, description, mimeType, read });

const RESOURCES = [
  resource('static-text', 'A text', 'text/plain', () => ({ text: 'This is the content of the static text resource.' })),
  resource('static-binary', 'An image', 'image/png', () => ({ blob: RED_PIXEL })),
  resource('watched-resource', 'A text that test_trigger_resource_change changes', 'text/plain', () => ({ text: `Version ${watchedVersion}` })),
];
const TEMPLATES = [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'Data by id', mimeType: 'application/json' }];

function readResource({ uri }, call) {
  const found = RESOURCES.find((it) => it.uri === uri);
  if (found) return { contents: [{ uri, mimeType: found.mimeType, ...found.read() }] };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) throw new RpcError(call.modern ? INVALID_PARAMS : RESOURCE_NOT_FOUND, 'Resource not found', { data: { uri } });
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
}

// ---------------------------------------------------------------- asking the client

// Thrown by a modern call that cannot go on without the client; becomes an `input_required` result.
class InputRequired extends Error {
  constructor(result) {
    super('Input required');
    this.result = { resultType: 'input_required', ...result };
  }
}

function needCapabilities(requests, call) {
  const needed = Object.values(requests).map(({ method }) => INPUT_KINDS[method].capability);
  const missing = needed.filter((name) => !call.capabilities[name]);
  if (missing.length === 0) return;
  if (call.modern) throw missingCapability(Object.fromEntries(missing.map((name) => [name, {}])));
  throw new Error(`The client does not support ${missing.join(', ')}`);
}

function needAnswer(key, request, answer) {
  const fine = typeof answer === 'object' && answer !== null && INPUT_KINDS[request.method].isAnswer(answer);
  if (!fine) throw new RpcError(INVALID_PARAMS, `The input response "${key}" does not fit ${request.method}`);
}

// The state that a client carries from one try of a request to the next is signed, and bound to that request.
const SIGNING_KEY = randomBytes(32);
const sign = (payload) => createHmac('sha256', SIGNING_KEY).update(payload).digest('base64url');
const requestDigest = ({ method, params }) =>
  createHash('sha256').update(JSON.stringify([method, params.name ?? params.uri, params.arguments ?? {}])).digest('base64url');

function sealState(message, answers) {
  const payload = Buffer.from(JSON.stringify({ request: requestDigest(message), answers })).toString('base64url');
  return `${payload}.${sign(payload)}`;
}

function openState(message) {
  const [payload, signature = ''] = String(message.params.requestState).split('.');
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(payload))];
  if (given.length === expected.length && timingSafeEqual(given, expected)) {
    const state = JSON.parse(Buffer.from(payload, 'base64url'));
    if (state.request === requestDigest(message)) return state.answers;
  }
  throw new RpcError(INVALID_PARAMS, 'The request state is not valid for this request');
}

// Modern wire: look into the answers that came with this try, and ask the client to try again if some are missing.
// With `withState`, answers count only if the state of an earlier try came with them.
function askByRetry(message, call) {
  const { inputResponses = {}, requestState } = message.params;
  if (typeof inputResponses !== 'object' || inputResponses === null) throw new RpcError(INVALID_PARAMS, 'inputResponses must be an object');
  const earlier = requestState === undefined ? undefined : openState(message);
  const answers = { ...earlier, ...inputResponses };
  return async (requests, { withState = false } = {}) => {
    needCapabilities(requests, call);
    const usable = withState && !earlier ? {} : answers;
    const open = Object.entries(requests).filter(([key, request]) => {
      if (!Object.hasOwn(usable, key)) return true;
      needAnswer(key, request, usable[key]);
      return false;
    });
    if (open.length === 0) return usable;
    throw new InputRequired({ inputRequests: Object.fromEntries(open), ...(withState && { requestState: sealState(message, usable) }) });
  };
}

// Legacy wire: send the requests on the stream of the call, and wait for all answers.
function askBySession(session, call) {
  return async (requests) => {
    needCapabilities(requests, call);
    const answered = Object.entries(requests).map(async ([key, request]) => {
      const answer = await session.request(request, call);
      needAnswer(key, request, answer);
      return [key, answer];
    });
    return Object.fromEntries(await Promise.all(answered));
  };
}

// ---------------------------------------------------------------- tasks (modern wire)

const NEEDS_TASKS = { extensions: { [TASKS_EXTENSION]: {} } };
const hasTasks = (call) => call.capabilities.extensions?.[TASKS_EXTENSION] !== undefined;

const TASK_TTL_MS = 300_000;
const tasks = new Map();

class Task {
  outcome = {}; // `result` or `error`, once there is one
  pending = new Map(); // questions to the client: key -> { request, resolve }
  controller = new AbortController();
  summary = { taskId: randomUUID(), createdAt: new Date().toISOString(), ttlMs: TASK_TTL_MS, pollIntervalMs: 200 };

  constructor() {
    this.change('working');
    tasks.set(this.summary.taskId, this);
    setTimeout(() => tasks.delete(this.summary.taskId), TASK_TTL_MS).unref();
  }

  // Changes nothing once the task has ended.
  change(status, outcome = {}) {
    if (['completed', 'failed', 'cancelled'].includes(this.summary.status)) return;
    this.outcome = outcome;
    Object.assign(this.summary, { status, lastUpdatedAt: new Date().toISOString() });
  }

  async run(work, call) {
    const context = { ...call, send() {}, dropStream() {}, signal: this.controller.signal, ask: (requests) => this.ask(requests, call) };
    try {
      this.change('completed', { result: dress('tools/call', await work(context)) });
    } catch (error) {
      this.change('failed', { error: errorResponse(null, error).error });
    }
  }

  ask(requests, call) {
    needCapabilities(requests, call);
    const answered = Object.entries(requests).map(([key, request]) => {
      const id = `${key}-${randomUUID()}`; // unique over the life of the task
      return new Promise((resolve, reject) => {
        this.pending.set(id, { request, resolve: (answer) => resolve([key, answer]) });
        this.controller.signal.addEventListener('abort', () => reject(new Error('Cancelled')), { once: true });
      });
    });
    this.change('input_required');
    return Promise.all(answered).then(Object.fromEntries);
  }

  // Unknown keys are ignored; the task goes on when no question is left.
  update(inputResponses) {
    const known = Object.entries(inputResponses).filter(([id]) => this.pending.has(id));
    for (const [id, answer] of known) needAnswer(id, this.pending.get(id).request, answer);
    for (const [id, answer] of known) {
      this.pending.get(id).resolve(answer);
      this.pending.delete(id);
    }
    if (known.length > 0 && this.pending.size === 0) this.change('working');
  }

  cancel() {
    this.change('cancelled');
    this.controller.abort();
  }

  get details() {
    const inputRequests = Object.fromEntries([...this.pending].map(([id, { request }]) => [id, request]));
    return { ...this.summary, ...this.outcome, ...(this.summary.status === 'input_required' && { inputRequests }) };
  }
}

function startTask(work, call) {
  const task = new Task();
  const created = { resultType: 'task', ...task.summary };
  task.run(work, call); // not awaited
  return created;
}

function findTask({ taskId }, call) {
  if (!hasTasks(call)) throw missingCapability(NEEDS_TASKS);
  const task = tasks.get(taskId);
  if (!task) throw new RpcError(INVALID_PARAMS, `Unknown task: ${taskId}`);
  return task;
}

// ---------------------------------------------------------------- methods

const CHANGEABLE = { listChanged: true };
const capabilities = { tools: CHANGEABLE, prompts: CHANGEABLE, resources: { subscribe: true }, completions: {}, logging: {} };

// Everything fits on one page, so there is no cursor that could be valid.
function list(key, items, fields) {
  return ({ cursor }) => {
    if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Unknown cursor');
    return { [key]: visible(items).map((item) => Object.fromEntries(fields.map((field) => [field, item[field]]))) };
  };
}

const COMMON_METHODS = {
  'tools/list': list('tools', TOOLS, ['name', 'description', 'inputSchema']),
  'tools/call': callTool,
  'prompts/list': list('prompts', PROMPTS, ['name', 'description', 'arguments']),
  'prompts/get': getPrompt,
  'resources/list': list('resources', RESOURCES, ['uri', 'name', 'description', 'mimeType']),
  'resources/templates/list': list('resourceTemplates', TEMPLATES, ['uriTemplate', 'name', 'description', 'mimeType']),
  'resources/read': readResource,
  'completion/complete'({ argument }) {
    const values = ['paris', 'park', 'party', 'testing'].filter((word) => word.startsWith(argument?.value ?? ''));
    return { completion: { values, total: values.length, hasMore: false } };
  },
};

const ok = () => ({}); // the answer of methods that only have an effect

const LEGACY_METHODS = {
  ...COMMON_METHODS,
  ping: () => ok(),
  'resources/subscribe': ({ uri }, { session }) => ok(session.subscriptions.add(uri)),
  'resources/unsubscribe': ({ uri }, { session }) => ok(session.subscriptions.delete(uri)),
  'logging/setLevel'({ level }, { session }) {
    if (!LOG_LEVELS.includes(level)) throw new RpcError(INVALID_PARAMS, `Unknown log level: ${level}`);
    session.logLevel = level;
    return ok();
  },
};

const MODERN_METHODS = {
  ...COMMON_METHODS,
  'server/discover': () => ({ supportedVersions: MODERN_VERSIONS, capabilities: { ...capabilities, ...NEEDS_TASKS } }),
  'subscriptions/listen': listen,
  'tasks/get': (params, call) => findTask(params, call).details,
  'tasks/update': (params, call) => ok(findTask(params, call).update(params.inputResponses ?? {})),
  'tasks/cancel': (params, call) => ok(findTask(params, call).cancel()),
};

// Stays open until the client goes away or cancels; only the kinds of notification asked for are sent.
async function listen({ notifications }, call) {
  if (typeof notifications !== 'object' || notifications === null) throw new RpcError(INVALID_PARAMS, 'notifications must be an object');
  const granted = Object.fromEntries(Object.keys(CHANGES).filter((kind) => notifications[kind]).map((kind) => [kind, notifications[kind]]));
  const notify = (method, params) => call.send(notification(method, { ...params, _meta: { [META_SUBSCRIPTION_ID]: call.id } }));
  const wants = (kind, uri) => (kind === 'resourceSubscriptions' ? granted[kind]?.includes(uri) : granted[kind] === true);
  const listener = { wants, notify };
  notify('notifications/subscriptions/acknowledged', { notifications: granted });
  listeners.add(listener);
  await once(call.signal, 'abort');
  listeners.delete(listener);
  return ok();
}

// Adds what results on the modern wire carry: for some, how long they may be kept, and by whom.
const CACHEABLE = ['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'];
function dress(method, result) {
  const hints = CACHEABLE.includes(method) && { ttlMs: 1000, cacheScope: 'public' };
  return { resultType: 'complete', ...hints, ...result, _meta: { ...result._meta, [META_SERVER_INFO]: SERVER_INFO } };
}

// The response to a request, whatever happens.
async function respond(message, call) {
  try {
    const methods = call.modern ? MODERN_METHODS : LEGACY_METHODS;
    if (!Object.hasOwn(methods, message.method)) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${message.method}`);
    const result = await methods[message.method](message.params ?? {}, call);
    return { jsonrpc: '2.0', id: message.id, result: call.modern ? dress(message.method, result) : result };
  } catch (error) {
    if (error instanceof InputRequired) return { jsonrpc: '2.0', id: message.id, result: dress(message.method, error.result) };
    return errorResponse(message.id, error);
  }
}

// Runs one request. `channel` is its way back to the client: `send(message)` for what comes before the
// response, `drop()` to close the stream early, `finish(response)` (without a response if the request was cancelled).
async function serve(message, call, channel, controller, inflight = new Map()) {
  Object.assign(call, {
    id: message.id,
    progressToken: message.params?._meta?.progressToken,
    signal: controller.signal,
    send: channel.send,
    dropStream: channel.drop,
  });
  inflight.set(message.id, controller);
  const response = await respond(message, call);
  inflight.delete(message.id);
  channel.finish(controller.signal.aborted ? undefined : response);
}

// ---------------------------------------------------------------- messages

// Parses one JSON-RPC message. Batches are not accepted.
function parseMessage(source) {
  let message;
  try {
    message = JSON.parse(source);
  } catch {
    throw new RpcError(PARSE_ERROR, 'The message is not valid JSON');
  }
  const isRequest = typeof message?.method === 'string' && ['string', 'number', 'undefined'].includes(typeof message.id);
  const isResponse = message?.method === undefined && message?.id !== undefined && (message.result ?? message.error) !== undefined;
  if (message?.jsonrpc !== '2.0' || !(isRequest || isResponse)) throw new RpcError(INVALID_REQUEST, 'This is not a JSON-RPC 2.0 message');
  return message;
}

const isModern = (message, headerVersion) =>
  message.params?._meta?.[META_VERSION] !== undefined || (headerVersion !== undefined && !LEGACY_VERSIONS.includes(headerVersion));

// Checks the `_meta` of a modern request. A header of the transport, if there is one, must agree with it.
function modernCall(message, headerVersion) {
  const meta = message.params?._meta ?? {};
  const missing = [META_VERSION, META_CAPABILITIES].filter((key) => meta[key] === undefined);
  if (missing.length > 0) throw new RpcError(INVALID_PARAMS, `Missing in _meta: ${missing.join(', ')}`);
  const requested = meta[META_VERSION];
  if (headerVersion !== undefined && headerVersion !== requested) throw new RpcError(HEADER_MISMATCH, 'MCP-Protocol-Version differs from _meta');
  if (!MODERN_VERSIONS.includes(requested)) {
    throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', { data: { supported: MODERN_VERSIONS, requested } });
  }
  const call = { modern: true, capabilities: meta[META_CAPABILITIES], logLevel: meta[META_LOG_LEVEL] };
  call.ask = askByRetry(message, call);
  return call;
}

// ---------------------------------------------------------------- legacy sessions

class Session {
  id = randomUUID();
  logLevel = 'info';
  subscriptions = new Set();
  inflight = new Map(); // requests of the client: id -> AbortController
  waiting = new Map(); // requests of the server: id -> { resolve, reject }
  lastId = 0;

  // `deliver(message)` sends what belongs to no request of the client.
  constructor({ id, params }, deliver) {
    if (typeof params?.protocolVersion !== 'string') throw new RpcError(INVALID_PARAMS, 'protocolVersion is missing');
    this.version = LEGACY_VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : LEGACY_VERSIONS[0];
    this.capabilities = params.capabilities ?? {};
    this.opening = { jsonrpc: '2.0', id, result: { protocolVersion: this.version, capabilities, serverInfo: SERVER_INFO } };
    this.wants = (kind, uri) => kind !== 'resourceSubscriptions' || this.subscriptions.has(uri);
    this.notify = (method, about) => deliver(notification(method, about));
    listeners.add(this);
  }

  call() {
    const call = { modern: false, session: this, capabilities: this.capabilities, logLevel: this.logLevel };
    call.ask = askBySession(this, call);
    return call;
  }

  request(request, call) {
    const id = `server-${++this.lastId}`;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      call.signal.addEventListener('abort', () => reject(new Error('Cancelled')), { once: true });
      call.send({ jsonrpc: '2.0', id, ...request });
    }).finally(() => this.waiting.delete(id));
  }

  // A response or a notification of the client. Responses to nothing are ignored.
  receive(message) {
    if (message.method === 'notifications/cancelled') this.inflight.get(message.params?.requestId)?.abort();
    if (message.method !== undefined) return;
    const { resolve, reject } = this.waiting.get(message.id) ?? { resolve() {}, reject() {} };
    if (message.error) reject(new Error(`The client answered: ${message.error.message}`));
    else resolve(message.result);
  }

  close() {
    listeners.delete(this);
    for (const controller of this.inflight.values()) controller.abort();
  }
}

// ---------------------------------------------------------------- event streams

const SSE_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' };
const RETRY_MS = 500;

// A stream of server-sent events. With a `name` it is resumable: its events have ids and are kept, and a
// later HTTP response can go on where an earlier one ended. `primed` streams begin with an empty event,
// so that the client knows an id, and how long to wait, before the first message.
class EventStream {
  events = [];
  ended = false;

  constructor(name, primed) {
    Object.assign(this, { name, primed });
  }

  attach(res, position, headers) {
    this.res?.end();
    this.res = res;
    res.on('close', () => {
      if (this.res === res) this.res = undefined;
    });
    res.writeHead(200, { ...SSE_HEADERS, ...headers });
    res.flushHeaders();
    if (this.primed) res.write(`id: ${this.name}/${position}\nretry: ${RETRY_MS}\ndata: \n\n`);
    for (const event of this.events.slice(position)) res.write(event);
    if (this.ended) res.end();
    return this;
  }

  send(message) {
    const id = this.name === undefined ? '' : `id: ${this.name}/${this.events.length + 1}\n`;
    const event = `event: message\n${id}data: ${JSON.stringify(message)}\n\n`;
    if (this.name !== undefined) this.events.push(event);
    this.res?.write(event);
  }

  detach() {
    this.res?.end();
    this.res = undefined;
  }

  end() {
    this.ended = true;
    this.detach();
  }
}

// ---------------------------------------------------------------- HTTP

const sessions = new Map();

class HttpSession extends Session {
  streams = new Map();

  constructor(initialize) {
    super(initialize, (message) => this.standalone.send(message));
    this.standalone = this.newStream();
    sessions.set(this.id, this);
  }

  newStream() {
    // Clients of older versions do not expect an event without data.
    const stream = new EventStream(randomUUID(), this.version >= '2025-11-25');
    this.streams.set(stream.name, stream);
    return stream;
  }

  close() {
    super.close();
    for (const stream of this.streams.values()) stream.end();
    sessions.delete(this.id);
  }
}

function sendJson(res, status, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}

// The reply to one POST: JSON if the response is all there is, an event stream as soon as something comes before
// it. A client that names text/event-stream first in Accept gets its result as a stream, too.
function httpChannel(req, res, newStream, statusOf, headers) {
  let stream;
  const open = () => (stream ??= newStream().attach(res, 0, headers));
  const { accept } = req.headers;
  const prefersStream = accept.indexOf('text/event-stream') < accept.indexOf('application/json');
  return {
    send: (message) => open().send(message),
    drop: () => open().detach(),
    finish(response) {
      if (!stream && response && (response.error || !prefersStream)) return sendJson(res, statusOf(response), response, headers);
      if (response) open().send(response);
      open().end();
    },
  };
}

// Protection against DNS rebinding: only local names may be used to reach a local server.
function isLocal(req) {
  const { host, origin } = req.headers;
  try {
    const names = [new URL(`http://${host}`).hostname, ...(origin === undefined ? [] : [new URL(origin).hostname])];
    return names.every((name) => ['localhost', '127.0.0.1', '[::1]'].includes(name));
  } catch {
    return false;
  }
}

async function readBody(req) {
  const chunks = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size > 4 * 1024 * 1024) throw new RpcError(INVALID_REQUEST, 'The body is too large', { status: 413 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

// Header values that plain ASCII cannot carry come as =?base64?...?=; anything else is taken as it is.
function decodeHeader(value) {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw new RpcError(HEADER_MISMATCH, `Invalid base64 in a header: ${value}`);
  return bytes.toString('utf8');
}

// The routing headers of the modern wire repeat parts of the body, and must agree with it.
const TASK_METHODS = { 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' };
const NAME_FIELDS = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri', ...TASK_METHODS };

function checkRoutingHeaders(headers, { method, params }) {
  const expect = (name, value) => {
    const header = headers[name.toLowerCase()];
    const found = header === undefined ? undefined : decodeHeader(header);
    if (found !== value?.toString()) throw new RpcError(HEADER_MISMATCH, `${name} is ${found ?? 'missing'}, but the body says ${value ?? 'nothing'}`);
  };
  expect('Mcp-Method', method);
  if (NAME_FIELDS[method]) expect('Mcp-Name', params[NAME_FIELDS[method]]);
  const called = method === 'tools/call' && TOOLS.find((it) => it.name === params.name);
  for (const [name, schema] of Object.entries(called ? called.inputSchema.properties : {})) {
    if (schema['x-mcp-header']) expect(`Mcp-Param-${schema['x-mcp-header']}`, params.arguments?.[name]);
  }
}

// HTTP statuses of error responses on the modern wire; the legacy wire, and other errors, use 200.
const ERROR_STATUS = { [METHOD_NOT_FOUND]: 404, [MISSING_CAPABILITY]: 400, [INTERNAL_ERROR]: 500 };

async function postModern(req, res, message) {
  if (message.method === undefined) throw new RpcError(INVALID_REQUEST, 'Responses are not accepted');
  if (message.id === undefined) return res.writeHead(202).end(); // on HTTP no notification has an effect
  const version = req.headers['mcp-protocol-version'];
  if (version === undefined) throw new RpcError(HEADER_MISMATCH, 'The header MCP-Protocol-Version is missing');
  const call = modernCall(message, version);
  checkRoutingHeaders(req.headers, message);
  const controller = new AbortController();
  res.on('close', () => controller.abort()); // closing the response cancels the request
  const channel = httpChannel(req, res, () => new EventStream(), ({ error }) => ERROR_STATUS[error?.code] ?? 200);
  await serve(message, call, channel, controller);
}

function findSession(req) {
  const id = req.headers['mcp-session-id'];
  if (id === undefined) throw new RpcError(INVALID_REQUEST, 'The header Mcp-Session-Id is missing');
  const session = sessions.get(id);
  if (!session) throw new RpcError(INVALID_REQUEST, 'There is no such session', { status: 404 });
  return session;
}

async function postLegacy(req, res, message) {
  if (message.method === 'initialize' && message.id !== undefined) {
    const session = new HttpSession(message);
    return sendJson(res, 200, session.opening, { 'Mcp-Session-Id': session.id });
  }
  const session = findSession(req);
  if (message.method === undefined || message.id === undefined) {
    session.receive(message);
    return res.writeHead(202).end();
  }
  const channel = httpChannel(req, res, () => session.newStream(), () => 200, { 'Mcp-Session-Id': session.id });
  await serve(message, session.call(), channel, new AbortController(), session.inflight);
}

// Legacy wire: the stream for messages that belong to no request, or the continuation of an earlier stream.
function get(req, res) {
  const session = findSession(req);
  const lastEventId = req.headers['last-event-id'];
  const [name, position] = lastEventId === undefined ? [session.standalone.name, session.standalone.events.length] : lastEventId.split('/');
  const stream = session.streams.get(name);
  if (!stream) throw new RpcError(INVALID_REQUEST, 'Last-Event-ID is not an event of this session');
  stream.attach(res, Number(position), { 'Mcp-Session-Id': session.id });
}

async function handleHttp(req, res) {
  const { accept = '', 'content-type': contentType = '', 'mcp-protocol-version': version } = req.headers;
  const refuse = (status, message) => {
    throw new RpcError(INVALID_REQUEST, message, { status });
  };
  let id = null;
  try {
    if (!isLocal(req)) refuse(403, 'Host or Origin is not local');
    if (req.url.split('?')[0] !== '/mcp') refuse(404, 'The endpoint is /mcp');
    const allowed = MODERN_VERSIONS.includes(version) ? ['POST'] : ['GET', 'POST', 'DELETE'];
    res.setHeader('Allow', allowed.join(', '));
    if (!allowed.includes(req.method)) refuse(405, `${req.method} is not supported`);
    if (req.method === 'DELETE') {
      findSession(req).close();
      return res.writeHead(204).end();
    }
    if (!accept.includes('text/event-stream')) refuse(406, 'Accept must list text/event-stream');
    if (req.method === 'GET') return get(req, res);
    if (!accept.includes('application/json')) refuse(406, 'Accept must list application/json');
    if (!contentType.startsWith('application/json')) refuse(415, 'The body must be application/json');
    const message = parseMessage(await readBody(req));
    id = (message.method && message.id) ?? null;
    await (isModern(message, version) ? postModern : postLegacy)(req, res, message);
  } catch (error) {
    sendJson(res, error.status ?? 500, errorResponse(id, error));
  }
}

// ---------------------------------------------------------------- standard input and output

async function serveStdio() {
  const write = (message) => message && process.stdout.write(`${JSON.stringify(message)}\n`);
  const channel = { send: write, drop() {}, finish: write };
  const inflight = new Map();
  let session;

  const receive = (message) => {
    if (message.method === 'initialize' && message.id !== undefined && !isModern(message)) {
      session?.close();
      session = new Session(message, write);
      return write(session.opening);
    }
    if (message.method === 'notifications/cancelled') inflight.get(message.params?.requestId)?.abort();
    if (message.method === undefined || message.id === undefined) return session?.receive(message);
    // Without a session, a request can only be one of the modern wire.
    if (isModern(message) || !session) return serve(message, modernCall(message), channel, new AbortController(), inflight);
    return serve(message, session.call(), channel, new AbortController(), session.inflight);
  };

  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    let id = null;
    try {
      const message = parseMessage(line);
      id = message.id ?? null;
      receive(message); // not awaited: requests run side by side
    } catch (error) {
      write(errorResponse(id, error));
    }
  }
  session?.close();
  for (const controller of inflight.values()) controller.abort();
}

// ---------------------------------------------------------------- start

const { values: options } = parseArgs({ options: { port: { type: 'string', default: '0' }, stdio: { type: 'boolean', default: false } } });

if (options.stdio) {
  await serveStdio();
} else {
  const server = createServer(handleHttp);
  server.listen(Number(options.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
