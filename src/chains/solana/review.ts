import type { Answer } from '../answer.ts'
import type { Reviewed } from '../chain.ts'
import type { UnsignedSolana } from '../unsigned.ts'
import { asRequest, checkUnsigned } from './check/request.ts'
import { solanaEffects } from './effects.ts'
import { prepareAsItIs } from './prepare/prepare.ts'
import type { PrepareContext } from './prepare/prepare-context.ts'
import { signDraft } from './sign.ts'
import type { SolanaAccount } from './types.ts'

/** Reviews a transaction by the rules of sending, with a simulation; signatures of others may still be missing. */
export async function reviewUnsigned(
  context: PrepareContext,
  { transaction }: UnsignedSolana,
  account: SolanaAccount,
): Promise<Answer<Reviewed>> {
  const refusal = checkUnsigned(transaction, account)
  if (refusal) return { kind: 'refused', refusal }
  const request = asRequest(transaction)
  const prepared = await prepareAsItIs(context, request, account)
  if (prepared.kind !== 'ok') return prepared
  const { draft } = prepared.value
  return {
    kind: 'ok',
    value: {
      request,
      effects: solanaEffects(request, account.address),
      cost: draft.fee + draft.spends,
      sign: (signer) => {
        const sourceAccount = { address: account.address, signer }
        return signDraft(draft, { sourceAccount, nonce: undefined, account: sourceAccount })
      },
    },
  }
}
