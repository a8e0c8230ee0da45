import { type Actor, ANONYMOUS } from '../../access/principal.ts'

/** Headers that carry credentials of the service. No list hands them over. */
const NEVER_FORWARDED = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** The id of the caller's API key, which the service sets: a caller cannot choose it. */
const CALLER_HEADER = 'x-relayer-api-key-id'

/**
 * The address of a caller without a key, so that a plugin can tell them apart. A key is one caller, wherever
 * it is used.
 */
const ADDRESS_HEADER = 'x-relayer-caller-address'

/** The headers that every plugin gets. */
const ALWAYS_FORWARDED = ['content-type', 'user-agent', 'x-request-id', CALLER_HEADER, ADDRESS_HEADER]

interface Received {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly requestId: string
  readonly actor: Actor
}

/**
 * Returns the headers of a request that a plugin gets: those of the list, and those that every plugin gets.
 */
export function headersFor(
  names: readonly string[],
  { headers, requestId, actor }: Received,
): Record<string, string[]> {
  const known: Readonly<Record<string, unknown>> = {
    ...headers,
    'x-request-id': requestId,
    [CALLER_HEADER]: actor.keyId,
    [ADDRESS_HEADER]: actor.keyId === ANONYMOUS.id ? actor.address : undefined,
  }
  const shown = [...ALWAYS_FORWARDED, ...names].filter((name) => !NEVER_FORWARDED.has(name))
  return Object.fromEntries(
    shown.flatMap((name) => {
      const values = [known[name] ?? []].flat().map(String)
      return values.length > 0 ? [[name, values]] : []
    }),
  )
}
