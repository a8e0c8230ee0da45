import { walkChain } from '../../../scripts/faults/evm/chain-walk.ts'
import { anvilNetwork, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { RECEIVER } from '../../support/service.ts'
import { ACCOUNTS } from '../conformance/keys.ts'
import type { OutageChain } from './chain.ts'

/** Enough for all transactions of a test: 10 ETH in wei. */
const BALANCE = '0x8ac7230489e80000'

/** Starts an EVM chain for the account of the key of the tests. */
export async function startEvmChain(): Promise<OutageChain> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  await anvil.rpc('anvil_setBalance', [ACCOUNTS.evm, BALANCE])
  return {
    network: anvilNetwork([anvil.url]),
    relayer: ON_ANVIL,
    request: (amount) => ({ to: RECEIVER, value: amount, speed: 'fast' }),
    makeBlock: async () => void (await anvil.rpc('evm_mine')),
    included: async () =>
      (await walkChain(anvil, 0))
        .filter(({ sourceAccount }) => sourceAccount === ACCOUNTS.evm.toLowerCase())
        .map(({ nonce, value, success }) => ({ nonce, amount: value, success })),
    firstNonce: 0n,
    stop: anvil.stop,
  }
}
