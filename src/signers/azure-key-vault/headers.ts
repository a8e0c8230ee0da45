import type { AzureTransport } from './transport.ts'

type AzureHeaders = Parameters<AzureTransport['sendRequest']>[0]['headers']

/** Makes headers in the form of Microsoft's libraries. The package that has it is theirs, and none of ours. */
export function createHeaders(headers: Readonly<Record<string, string>>): AzureHeaders {
  const kept = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    get: (name) => kept.get(name.toLowerCase()),
    has: (name) => kept.has(name.toLowerCase()),
    set: (name, value) => void kept.set(name.toLowerCase(), String(value)),
    delete: (name) => void kept.delete(name.toLowerCase()),
    toJSON: () => Object.fromEntries(kept),
    [Symbol.iterator]: () => kept[Symbol.iterator](),
  }
}
