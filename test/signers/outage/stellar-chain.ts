import type { AppliedTransaction } from '../../../simulators/stellar/chain.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { isSuccess } from '../../../simulators/stellar/transaction/results.ts'
import { payment, RECEIVER, stellarConfig, XLM } from '../../support/stellar-scenario.ts'
import { ACCOUNTS } from '../conformance/keys.ts'
import type { OnChain, OutageChain } from './chain.ts'

/** Starts a Stellar network for the account of the key of the tests. */
export async function startStellarChain(): Promise<OutageChain> {
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(ACCOUNTS.stellar, 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const { networks = [] } = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  return {
    network: networks[0] ?? {},
    relayer: { network: 'standalone', network_type: 'stellar' },
    request: (amount) => payment(amount),
    makeBlock: async () => void ledger.close(),
    included: async () =>
      ledger.ledgers
        .flatMap(({ transactions }) => transactions)
        .filter(({ frame }) => frame.transaction.source === ACCOUNTS.stellar)
        .map(toOnChain),
    firstNonce: (ledger.account(ACCOUNTS.stellar)?.sequence ?? 0n) + 1n,
    stop: ledger.stop,
  }
}

function toOnChain({ frame, frameResult }: AppliedTransaction): OnChain {
  const body = frame.transaction.operations[0]?.body
  return {
    nonce: frame.transaction.sequence,
    amount: body?.type === 'payment' ? BigInt(body.paymentOp.amount) : 0n,
    success: isSuccess(frameResult),
  }
}
