import { type Contract, type Node, resolveReference } from '../../../src/contract/document.ts'

/** A sentence of an example, with the place in the document that it stands in. */
export interface ExampleSentence {
  readonly where: string
  /** The field, the code beside it, and the text without its ids and numbers. */
  readonly sentence: string
}

/** Fields whose text is the service's own, however short it is. */
const SPOKEN: ReadonlySet<string> = new Set([
  'error',
  'message',
  'status_reason',
  'reason',
  'summary',
  'details',
])

/** Fields whose text comes from elsewhere, however long it is. */
const QUOTED: ReadonlySet<string> = new Set(['passphrase', 'date', 'data', 'body', 'user_agent'])

/** Every sentence in the examples of answers and webhooks, which is all that the document lets the service say. */
export function exampleSentences({ document }: Contract): readonly ExampleSentence[] {
  const { responses } = document.components as { responses: Record<string, Node> }
  const places = [
    ...Object.entries(responses),
    ...Object.entries(document.paths as Record<string, Node>).flatMap(([path, item]) =>
      answersAt(path, item),
    ),
    ...Object.entries(document.webhooks as Record<string, Node>).map(([event, { post }]) => [
      event,
      (post as Node).requestBody,
    ]),
  ] as [string, Node][]
  const found = places.flatMap(([where, body]) => sentencesIn(where, resolveReference(document, body)))
  return [...new Map(found.toReversed().map((one) => [one.sentence, one])).values()].toReversed()
}

function answersAt(path: string, item: Node): [string, unknown][] {
  return Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .flatMap(([method, operation]) =>
      Object.entries((operation as Node).responses as Node).map(([status, answer]): [string, unknown] => [
        `${method} ${path} ${status}`,
        answer,
      ]),
    )
}

function sentencesIn(where: string, body: Node): ExampleSentence[] {
  return Object.values((body.content ?? {}) as Record<string, Node>).flatMap(({ examples }) =>
    Object.entries((examples ?? {}) as Record<string, Node>).flatMap(([name, { value }]) =>
      sentencesOf(value).map((sentence) => ({ where: `${where}, ${name}`, sentence })),
    ),
  )
}

/** The sentences of a body, wherever they are in it. */
export function sentencesOf(body: unknown): string[] {
  if (Array.isArray(body)) return body.flatMap(sentencesOf)
  if (typeof body !== 'object' || body === null) return []
  const { code } = body as Node
  return Object.entries(body).flatMap(([field, value]) => {
    if (typeof value !== 'string') return sentencesOf(value)
    if (!isSentence(field, value)) return []
    return [`${field}${code === undefined ? '' : ` (${code})`}: ${generalised(value)}`]
  })
}

function isSentence(field: string, text: string): boolean {
  return SPOKEN.has(field) || (!QUOTED.has(field) && /\S+ \S+ \S+/.test(text))
}

/** Ids, addresses, hosts, times and numbers differ from run to run; nothing else does. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/0x[0-9a-fA-F]{40,}/g, '<hex>'],
  [/\b[GCM][A-Z2-7]{55,}\b/g, '<account>'],
  [/127\.0\.0\.1:\d+|\brpc\.example\b/g, '<host>'],
  [/\d+(\.\d+)?/g, '<n>'],
]

function generalised(text: string): string {
  return VARIABLE.reduce((seen, [pattern, name]) => seen.replace(pattern, name), text)
}
