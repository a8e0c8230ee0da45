import {
  type OperationResult,
  TransactionResult,
  type TransactionResultCodeName,
} from '@stellar/stellar-sdk/xdr'

/** Reads a `TransactionResult`, XDR in base64; undefined for other text. */
export function readResult(base64: unknown): TransactionResult | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return TransactionResult.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}

/** Returns the network's code for the transaction itself: for the inner one, where a fee bump failed because of it. */
export function codeOf({ result }: TransactionResult): TransactionResultCodeName {
  return outcomeOf(result).type
}

/** Describes a result: the code, and the index and code of each failed operation. */
export function describeResult({ result }: TransactionResult): string {
  const outcome = outcomeOf(result)
  if (outcome.type !== 'txFailed') return spelled(outcome.type)
  const failed = outcome.results
    .map((one, index) => ({ at: index, code: operationCode(one) }))
    .filter(({ code }) => !code.endsWith('Success'))
    .map(({ at, code }) => `operations[${at}] ${spelled(code)}`)
  return [spelled(outcome.type), ...failed].join(', ')
}

function outcomeOf(result: TransactionResult['result']) {
  const wrapped = result.type === 'txFeeBumpInnerFailed' || result.type === 'txFeeBumpInnerSuccess'
  return wrapped ? result.innerResultPair.result.result : result
}

/** Returns the code of the operation's own kind (`paymentUnderfunded`), or the reason why it was not tried (`opBadAuth`). */
function operationCode(result: OperationResult): string {
  return result.type === 'opInner' ? result.tr.value.type : result.type
}

/** Spells `paymentNoTrust` as `payment_no_trust`, the name in the protocol's XDR, which people can look up. */
function spelled(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
