import type { Transaction } from '../../../../clients/typescript/src/index.ts'

/** The call that the service has decoded. */
export type DecodedCall = NonNullable<Extract<Transaction, { network_type: 'evm' }>['decoded_call']>

/** Describes call data: the function with its arguments where the service knows it, and otherwise the selector and the length. */
export function describeCall(data: string, call: DecodedCall | undefined): string {
  if (call === undefined)
    return `${data.slice(0, 10).toLowerCase()} and ${Math.max(0, data.length - 10) / 2} bytes`
  const name = call.function.slice(0, call.function.indexOf('('))
  return `${name}(${call.args.map((one) => describeNamed(one.name, one.value)).join(', ')})`
}

function describeNamed(name: string | null, value: unknown): string {
  return name === null ? describeValue(value) : `${name}: ${describeValue(value)}`
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(describeValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([name, field]) => describeNamed(name, field))
    .join(', ')}}`
}
