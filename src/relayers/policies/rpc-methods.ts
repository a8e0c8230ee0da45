import type { FieldType } from '../../lib/fields/field-types.ts'
import { subset } from './limit.ts'
import { listOf } from './policy-type.ts'

const METHOD = /^[A-Za-z0-9_]{1,128}$/

/** The name of an RPC method. */
export const rpcMethod: FieldType<string> = {
  expected: 'the name of an RPC method: letters, digits and "_"',
  read: (value) => (typeof value === 'string' && METHOD.test(value) ? value : undefined),
  blank: '',
}

/** The policy `allowed_rpc_methods`, which every network type has. */
export const ALLOWED_RPC_METHODS = {
  wireName: 'allowed_rpc_methods',
  type: listOf(rpcMethod),
  limit: subset,
  description: 'The only RPC methods that callers may use. Those that read, price and simulate when absent.',
} as const
