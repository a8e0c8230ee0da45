import { StrKey } from '@stellar/stellar-sdk/base'
import type { Receipt } from '../../answer.ts'
import type { InclusionDetails } from '../../attempt.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { StellarDraft } from '../content.ts'
import { openEnvelope } from '../model/envelope.ts'
import { readEmitted } from './receipts.ts'

/** The functions of SEP-41 that move tokens. */
const TRANSFERS: readonly string[] = ['transfer', 'transfer_from']

/** The events of a transfer: to the issuer of an asset it burns, and from the issuer it mints (CAP-67). */
const MOVES: readonly string[] = ['transfer', 'mint', 'burn']

/**
 * Reads what the receipt of an included draft does not say: a token whose transfer succeeded without an
 * event, which SEP-41 demands. Nothing that no node tells is guessed.
 */
export async function readInclusionDetails(
  client: PooledClient,
  { envelope }: Pick<StellarDraft, 'envelope'>,
  { hash, success }: Pick<Receipt, 'hash' | 'success'>,
): Promise<InclusionDetails> {
  const token = success ? transferredToken(envelope) : undefined
  if (token === undefined) return {}
  const answer = await readEmitted(client, hash)
  if (answer.kind !== 'ok' || answer.value.truncated) return {}
  const { emitted } = answer.value
  if (emitted.type !== 'stellar') return {}
  const isMoved = emitted.events.some(({ contractId, topics: [name] }) => {
    const symbol = typeof name === 'object' && 'symbol' in name ? name.symbol : undefined
    return contractId === token && typeof symbol === 'string' && MOVES.includes(symbol)
  })
  if (isMoved) return {}
  return {
    note: `${token} emitted no event of a transfer (SEP-41), so this transfer may have moved no tokens.`,
  }
}

/** Returns the contract whose transfer is the only operation of the envelope. */
function transferredToken(envelope: string): string | undefined {
  const body = openEnvelope(envelope).tx.operations[0]?.body
  if (body?.type !== 'invokeHostFunction') return undefined
  const { hostFunction } = body.invokeHostFunctionOp
  if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return undefined
  const { contractAddress, functionName } = hostFunction.invokeContract
  if (contractAddress.type !== 'scAddressTypeContract' || !TRANSFERS.includes(functionName.toString()))
    return undefined
  return StrKey.encodeContract(contractAddress.contractId.toBytes())
}
