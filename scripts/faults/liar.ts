import type { FaultyNode, Habits } from '../../test/support/faulty-node.ts'

type Lie = NonNullable<Habits['lie']>

/** After this many answers an endpoint that lies tells the next lie. */
const TURN = 40

/** Lets the endpoint tell these lies in turn, and between them the truth. */
export function lieInTurn(node: FaultyNode | undefined, lies: readonly Lie[]): void {
  if (node === undefined) return
  let answers = 0
  const turns: readonly Lie[] = lies.flatMap((lie) => [lie, (_call, reply) => reply])
  node.habits = {
    lie: (call, reply) => {
      answers += 1
      const lie = turns[Math.floor(answers / TURN) % turns.length]
      return lie === undefined ? reply : lie(call, reply)
    },
  }
}

/** Multiplies every number in the answers to these methods, also those that are written as text. */
export function scaled(methods: readonly string[], factor: number): Lie {
  return (call, reply) =>
    methods.includes(call.method ?? '') && reply.result !== undefined
      ? { ...reply, result: times(reply.result, factor) }
      : reply
}

function times(value: unknown, factor: number): unknown {
  if (typeof value === 'number') return Math.floor(value * factor)
  if (typeof value === 'string' && /^[0-9]+$/.test(value)) return String(Math.floor(Number(value) * factor))
  if (Array.isArray(value)) return value.map((one: unknown) => times(one, factor))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, times(one, factor)]))
}

/** Answers these methods with an error. */
export function failing(methods: readonly string[], message: string): Lie {
  return (call, reply) =>
    methods.includes(call.method ?? '') ? { id: reply.id, error: { code: -32_000, message } } : reply
}
