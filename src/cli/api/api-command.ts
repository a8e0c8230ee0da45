import { type ApiAccess, readApiAccess } from '../../config/api-access.ts'
import { parseJson, stringifyJson } from '../../contract/exact-integers.ts'
import { type Arguments, type Command, EXIT, type Terminal, UsageError } from '../command.ts'

/** A command over the API runs with these. */
export interface ApiArguments extends Arguments {
  readonly client: ApiClient
  /** True if the output is JSON. */
  readonly json: boolean
  readonly terminal: Terminal
}

/** A command that calls a running service over HTTP. */
interface ApiCommand
  extends Pick<Command, 'name' | 'summary' | 'help'>,
    Partial<Pick<Command, 'options' | 'flags'>> {
  /** The names of its positional arguments, all of them required. */
  readonly positionals: readonly string[]
  /** The options as help shows them behind the arguments: `[--status <status>]`. */
  readonly usage?: string
  /** Names of further positional arguments that may be left out. */
  readonly optional?: readonly string[]
  /** Runs the command. It returns the exit code, or nothing for 0. */
  run(args: ApiArguments): Promise<number | undefined>
}

const ACCESS = [
  'Uses the service at RELAYER_URL with the API key RELAYER_API_KEY, or else that of the configuration in this folder. --json prints the',
  'response for programs, with exact integers.',
]

/** Makes a command of the command line from one over the API. */
export function apiCommand({
  positionals,
  optional = [],
  usage = '',
  help,
  options = [],
  flags = [],
  run,
  ...command
}: ApiCommand): Command {
  const names = [...positionals.map((name) => `<${name}>`), ...optional.map((name) => `[${name}]`)]
  return {
    ...command,
    usage: [...names, usage, '[--json]'].filter((part) => part !== '').join(' '),
    help: [...help, '', ...ACCESS],
    options,
    flags: [...flags, 'json'],
    maxPositionals: positionals.length + optional.length,
    run: async (args, terminal) => {
      const missing = positionals[args.positionals.length]
      if (missing !== undefined)
        throw new UsageError(`The ${missing} is missing. Usage: relayer ${command.name} ${names.join(' ')}`)
      const json = args.flags.has('json')
      return (await run({ ...args, client: createApiClient(), json, terminal })) ?? EXIT.ok
    },
  }
}

/** Builds a path from its parts, each of them encoded. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** Builds a query from the values that are there. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`
}

/** The service refused a command. The message comes from the service. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** The code of the contract; undefined without an answer of the service. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** A success of the service. */
export interface ApiAnswer<Data> {
  readonly data: Data
  /** The sentences of `metadata.logs`. */
  readonly logs: readonly string[]
}

interface ApiRequest {
  /** JSON text, which is sent as it is. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A service, called over HTTP. */
export interface ApiClient {
  /** @throws ApiFailure with the sentence of the service, or when it does not answer */
  call<Data>(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer<Data>>
  /** Opens a stream of server-sent events. @throws ApiFailure as `call` */
  stream(path: string): Promise<ReadableStream<Uint8Array>>
}

/** The longest time for an answer, in ms. It is longer than the service takes for any. */
const TIMEOUT_MS = 60_000

/** Creates the client of the service that the environment or the configuration names. */
export function createApiClient(access: ApiAccess = readApiAccess()): ApiClient {
  return {
    call: async (method, path, request = {}) => {
      const response = await ask(access, path, {
        ...request,
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return readAnswer(access, response)
    },
    stream: async (path) => {
      const response = await ask(access, path, { method: 'GET' })
      if (response.ok && response.body !== null) return response.body
      throw await failureOf(access, response)
    },
  }
}

async function ask(
  { url, apiKey }: ApiAccess,
  path: string,
  { headers, body, ...request }: ApiRequest & Pick<RequestInit, 'method' | 'signal'>,
): Promise<Response> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    return await fetch(`${url}/api/v1${path}`, {
      ...request,
      ...(body !== undefined && { body }),
      headers: { authorization: `Bearer ${apiKey}`, ...type, ...headers },
    })
  } catch {
    throw new ApiFailure(`The service at ${url} does not answer. Is it running, and is RELAYER_URL right?`)
  }
}

interface Envelope<Data> {
  readonly data: Data
  readonly error?: string
  readonly code?: string
  readonly metadata?: { readonly logs: readonly { readonly message: string }[] }
}

async function readAnswer<Data>(access: ApiAccess, response: Response): Promise<ApiAnswer<Data>> {
  if (!response.ok) throw await failureOf(access, response)
  const { data, metadata } = await readEnvelope<Data>(access, response)
  return { data, logs: metadata?.logs.map(({ message }) => message) ?? [] }
}

async function failureOf(access: ApiAccess, response: Response): Promise<ApiFailure> {
  const { error, code } = await readEnvelope<null>(access, response)
  return new ApiFailure(
    `${error ?? 'The service refused.'} (${response.status}${code ? ` ${code}` : ''})`,
    code,
  )
}

async function readEnvelope<Data>({ url }: ApiAccess, response: Response): Promise<Envelope<Data>> {
  try {
    // The service checks its answers against the contract, which has this shape.
    return parseJson(await response.text()) as Envelope<Data>
  } catch {
    throw new ApiFailure(`${url} answered ${response.status} without JSON; it is not a relayer service.`)
  }
}

/**
 * Checks a request that is JSON text. It is sent as it is, so that no integer is rounded, and the message does
 * not repeat it (I11).
 */
export function requireJson(text: string, example: string): string {
  try {
    JSON.parse(text)
  } catch {
    throw new UsageError(`The request is not JSON. Put it into single quotes: ${example}`)
  }
  return text
}

/** Writes a part of an answer as JSON with exact integers, indented or in one line. */
export function toJson(data: unknown, { indented = true } = {}): string {
  return stringifyJson(data, indented ? 2 : undefined)
}

/** A cell of a table. Absent values are shown as empty. */
type Cell = string | number | bigint | boolean | undefined

/** The widest that a cell is shown, in characters. The signature of a Solana transaction has this many. */
const MAX_WIDTH = 88

/** Formats rows as lines with aligned columns below their names. */
export function formatTable(columns: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const lines = [columns, ...rows.map((row) => row.map(shown))]
  const widths = columns.map((_name, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function shown(cell: Cell): string {
  const text = cell === undefined ? '' : String(cell)
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH - 1)}…` : text
}

/**
 * Formats the fields of a record as lines `name: value`, and those of an object without inner objects as
 * `object.name: value`. Lists and other objects are JSON in one line, with exact integers.
 */
export function formatRecord(record: object): string[] {
  const fields = Object.entries(record)
    .flatMap(([name, value]): [string, unknown][] =>
      isFlat(value)
        ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one])
        : [[name, value]],
    )
    .filter(([, value]) => value !== undefined)
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => {
    const text = typeof value === 'object' ? toJson(value, { indented: false }) : String(value)
    return `${`${name}:`.padEnd(width + 1)} ${text}`
  })
}

function isFlat(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((inner) => typeof inner !== 'object' || inner === null)
}
