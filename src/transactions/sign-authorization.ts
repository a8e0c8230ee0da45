import type { Actor } from '../access/actor.ts'
import { appendSignatures } from '../audit/signatures.ts'
import type { MessageSignature } from '../chains/attempt.ts'
import { AppError } from '../errors.ts'
import { inactive } from '../relayers/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { chargeSignature } from './budgets/charge.ts'
import type { TransactionsContext } from './model/runtime.ts'
import { NOTHING_SIGNED, requireAnswer } from './require-answer.ts'

/** Signs the preimage of an authorization entry, XDR in base64, for the account of a relayer. */
export type AuthorizationSigner = (
  relayer: Relayer,
  preimage: string,
  actor: Actor,
) => Promise<MessageSignature>

/** Somebody else pays the fee of the transaction, and what the calls move is in their effects. */
const NO_COST = 0n

/**
 * Signs an authorization of smart contract calls, under the rules for the same calls in a transaction. Its entry of the audit log is in the
 * commit of the charge, before the signing: nothing is signed without one, and when the signer fails, there is one without a signature.
 * @throws AppError with the rule that the authorization breaks, or `network_unavailable` when no node tells the newest ledger
 */
export function createAuthorizationSigner(context: TransactionsContext): AuthorizationSigner {
  return async (relayer, preimage, actor) => {
    const { chain, account } = context.runtimeOf(relayer)
    const refusal = inactive(relayer)
    if (refusal) throw refusal
    const answer = await chain.authorizationEntries?.review(preimage, relayer.address)
    if (answer === undefined)
      throw new AppError(
        'not_supported',
        `Relayer ${relayer.id} is on a network of type ${relayer.networkType}, which has no authorization entries; they are for stellar.`,
      )
    const { effects, sha256, sign } = requireAnswer(answer, NOTHING_SIGNED)
    const signature = { relayerId: relayer.id, action: 'signAuthorizationEntry', actor, sha256 } as const
    await chargeSignature(
      context,
      { relayer, actor, record: (tx) => appendSignatures(tx, relayer.id, [signature]) },
      { effects, cost: NO_COST },
    )
    return sign(account.signer)
  }
}
