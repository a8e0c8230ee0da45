import { once } from 'node:events'
import { createServer } from 'node:http'

/** A reply of a node, as it is on the wire. */
export interface Reply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Changes the replies of one endpoint; `silent` keeps the whole request open. */
export type Lie = (method: string, reply: Reply) => Reply | 'silent'

/** An endpoint between the service and a real node. */
export interface Liar {
  readonly url: string
  /** The next replies are changed by this; without a lie it tells what the node tells. */
  tell(lie: Lie | undefined): void
  /** Every method that it was asked for, with the last honest result. */
  readonly honest: ReadonlyMap<string, unknown>
  stop(): Promise<void>
}

interface Call {
  readonly method: string
  readonly id: unknown
}

/** Starts an endpoint that passes calls on to a node. `every` changes the replies also while it tells no lie. */
export async function startLiar(target: string, every: Lie = (_, reply) => reply): Promise<Liar> {
  let lie: Lie | undefined
  const honest = new Map<string, unknown>()
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await request.toArray()).join('')
      const calls = [JSON.parse(body) as Call | Call[]].flat()
      const answer = await fetch(target, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      const told = (await answer.json()) as Reply | Reply[]
      const replies = [told].flat().map((reply) => {
        const method = calls.find(({ id }) => id === reply.id)?.method ?? ''
        const plain = every(method, reply)
        if (plain !== 'silent' && plain.result !== undefined) honest.set(method, plain.result)
        return plain === 'silent' || lie === undefined ? plain : lie(method, plain)
      })
      if (replies.includes('silent')) return
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(Array.isArray(told) ? replies : replies[0]))
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('No port was given.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    honest,
    tell: (next) => {
      lie = next
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** One lie about one field of one answer. */
export interface NamedLie {
  readonly name: string
  readonly method: string
  readonly lie: Lie
}

/** Factors by which a number can be wrong. */
const FACTORS = [-6, -3, -1, 1, 3, 6]

/** Amounts by which it can be wrong: less than any factor shows. */
const STEPS = [-40n, -3n, 3n, 40n]

/** Changes a leaf in each way that its kind allows; `special` adds those of encoded values. */
function wrongValues(
  leaf: unknown,
  special: (text: string) => readonly { readonly name: string; readonly value: unknown }[],
): readonly { readonly name: string; readonly value: unknown }[] {
  const others = [{ name: 'null', value: null }]
  const isText = typeof leaf === 'string'
  const isNumber = typeof leaf === 'number' || (isText && /^\d{1,18}$/.test(leaf))
  if (!isNumber) return [...others, ...(isText ? special(leaf) : [])]
  const number = BigInt(leaf)
  const scaled = FACTORS.map((power) => ({
    name: `× 10^${power}`,
    value: power < 0 ? number / 10n ** BigInt(-power) : number * 10n ** BigInt(power),
  }))
  const moved = STEPS.map((step) => ({ name: `${step}`, value: number + step }))
  const asLeaf = (value: bigint) => (isText ? String(value) : Number(value))
  return [
    ...others,
    { name: '0', value: asLeaf(0n) },
    ...[...scaled, ...moved]
      .filter(({ value }) => value >= 0n && value !== number)
      .map(({ name, value }) => ({ name, value: asLeaf(value) })),
  ]
}

type Path = readonly (string | number)[]

/** The leaves of a value. Of a list, all items are changed alike. */
function leavesOf(
  value: unknown,
  path: Path = [],
): readonly { readonly path: Path; readonly leaf: unknown }[] {
  if (typeof value !== 'object' || value === null) return [{ path, leaf: value }]
  if (Array.isArray(value)) return value.length === 0 ? [] : leavesOf(value[0], [...path, '*'])
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

function withLeaf(value: unknown, [step, ...rest]: Path, leaf: unknown): unknown {
  if (step === undefined) return leaf
  if (step === '*') return Array.isArray(value) ? value.map((item) => withLeaf(item, rest, leaf)) : value
  if (typeof value !== 'object' || value === null) return value
  return { ...value, [step]: withLeaf((value as Record<string, unknown>)[step], rest, leaf) }
}

/** Returns every lie about every field of every answer, and the answers that say nothing. */
export function everyLie(
  honest: ReadonlyMap<string, unknown>,
  special: (text: string) => readonly { readonly name: string; readonly value: unknown }[] = () => [],
): readonly NamedLie[] {
  return [...honest].flatMap(([method, result]): NamedLie[] => {
    const about = (name: string, change: (reply: Reply) => Reply | 'silent'): NamedLie => ({
      name: `${method} ${name}`,
      method,
      lie: (asked, reply) => (asked === method ? change(reply) : reply),
    })
    return [
      about('null', ({ id }) => ({ id, result: null })),
      about('an error', ({ id }) => ({ id, error: { code: -32000, message: 'no' } })),
      about('wrong parameters', ({ id }) => ({ id, error: { code: -32602, message: 'must include a tip' } })),
      about('no answer', () => 'silent'),
      ...leavesOf(result).flatMap(({ path, leaf }) =>
        wrongValues(leaf, special).map(({ name, value }) =>
          about(`${path.join('.')} ${name}`, ({ id, result: told }) => ({
            id,
            result: withLeaf(told, path, value),
          })),
        ),
      ),
    ]
  })
}
