import { randomBytes } from 'node:crypto'
import { bytesToHex, numberToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { SETTLE_MS } from '../../../src/chains/simulations.ts'
import { createLogger } from '../../../src/log.ts'
import { createSecp256k1Signer } from '../../../src/signers/secp256k1.ts'
import { startAnvil } from '../../support/anvil.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'
import type { ChainUnderTest } from './chain-under-test.ts'
import { describeChain } from './conformance.ts'

const FUNDS = 10n ** 18n

describeChain('EVM', async (): Promise<ChainUnderTest> => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const key = randomBytes(32)
  const account = { address: privateKeyToAddress(bytesToHex(key)), signer: createSecp256k1Signer('key', key) }
  const other = privateKeyToAddress(bytesToHex(randomBytes(32)))
  await anvil.rpc('anvil_setBalance', [account.address, numberToHex(FUNDS)])
  await anvil.rpc('evm_mine')
  const [behind, deaf] = await Promise.all([startFaultyNode(anvil.url), startFaultyNode(anvil.url)])
  behind.fault = () => ({ kind: 'lag', blocks: 1 })
  deaf.fault = (methods) => (methods.includes('eth_sendRawTransaction') ? 'lose' : 'pass')

  const clock = createHurriedClock()
  const chainAt = (url: string) =>
    createEvmChain({
      network: { ...SILENT_NETWORK, chainId: 31_337, rpcUrls: [{ url, weight: 100 }] },
      rpcTimeoutMs: 5_000,
      clock,
      log: createLogger({ level: 'silent' }),
    })

  return {
    chain: chainAt(anvil.url),
    behind: chainAt(behind.url),
    deaf: chainAt(deaf.url),
    account: { address: account.address, policies: {} },
    signingContext: (nonce) => ({ sourceAccount: account, nonce, account }),
    move: (amount, change) => ({ type: 'evm', to: other, value: amount, speed: 'fast', ...change }),
    received: async () => BigInt(await anvil.rpc<string>('eth_getBalance', [other, 'latest'])),
    include: async () => {
      // A refusal that one node repeats counts only after this time.
      clock.advance(SETTLE_MS)
      await anvil.rpc('evm_mine')
    },
    stop: async () => {
      await Promise.all([behind.stop(), deaf.stop()])
      await anvil.stop()
    },
  }
})
