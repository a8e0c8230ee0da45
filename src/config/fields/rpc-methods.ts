import type { FieldType } from './field-types.ts'
import type { Reader } from './reader.ts'

const METHOD = /^[A-Za-z0-9_]{1,128}$/

const rpcMethod: FieldType<string> = {
  expected: 'the name of an RPC method: letters, digits and "_"',
  read: (value) => (typeof value === 'string' && METHOD.test(value) ? value : undefined),
  blank: '',
}

/** The policy `allowed_rpc_methods`. An empty list is kept apart from none: it allows nothing. */
export function readRpcMethods(policies: Reader): readonly string[] | undefined {
  if (policies.raw('allowed_rpc_methods') === undefined) return undefined
  return policies.list('allowed_rpc_methods', rpcMethod)
}
