import { Keypair } from '@stellar/stellar-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { plantMint } from '../../../simulators/solana/tokens.ts'
import { createWallet, signContent, unitLimit, unitPrice } from '../../../simulators/solana/wallet.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { AS_PAYER } from '../../chains/solana/build.ts'
import { startService } from '../../support/service.ts'
import { SOL, MAIN as SOLANA_MAIN, solanaConfig } from '../../support/solana-scenario.ts'
import { keypairOf, MAIN, stellarConfig, XLM } from '../../support/stellar-scenario.ts'
import { paymentBy } from './evm-payment.ts'
import { NETWORK, startEvmSite } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { GENESIS, holdTokens, SOLANA_NETWORK, solanaBody, transferChecked } from './solana-payment.ts'
import { stellarPayment } from './stellar-payment.ts'

const BUYERS = 50
const PASSPHRASE = 'Test SDF Network ; September 2015'
const STELLAR = 'stellar:testnet'

interface Answer {
  readonly success: boolean
  readonly errorMessage?: string
  readonly transaction: string
}

async function settle(url: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${url}/x402/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

function expectServed(answers: readonly Answer[]): void {
  expect(answers.map(({ success, errorMessage }) => errorMessage ?? success)).toEqual(answers.map(() => true))
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(BUYERS)
}

test('fifty buyers who come at once are served on Stellar with ledgers of five seconds', async () => {
  const ledger = await startLedger({ closeEveryMs: 5000, passphrase: PASSPHRASE })
  onTestFinished(ledger.stop)
  const merchant = keypairOf('merchant').publicKey()
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(merchant, 100n * XLM)
  const service = await startService({
    ...stellarConfig({ urls: [ledger.url], passphrase: PASSPHRASE, relayer: { channels: 16 } }),
    plugins: [pluginEntry([{ network: STELLAR, relayer_id: 'main' }], { open_mount: true })],
  })
  onTestFinished(service.stop)
  await untilReady(service)
  const payers = Array.from({ length: BUYERS }, () => Keypair.random())
  for (const payer of payers) ledger.fund(payer.publicKey(), 100n * XLM)
  const bodies = await Promise.all(
    payers.map(async (payer) => {
      const parts = { ledger, payer, payTo: merchant, passphrase: PASSPHRASE }
      return (await stellarPayment(parts)).body
    }),
  )
  const before = ledger.account(merchant)?.balance ?? 0n
  expectServed(await Promise.all(bodies.map((body) => settle(service.url, body))))
  expect(ledger.account(merchant)?.balance).toBe(before + BigInt(BUYERS) * 10_000n)
}, 180_000)

test('fifty buyers who come at once are served on EVM with one account and slow blocks', async () => {
  const site = await startEvmSite(
    { plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }], { open_mount: true })] },
    ['--no-mining'],
  )
  onTestFinished(site.stop)
  await untilReady(site.service)
  const payers = await Promise.all(Array.from({ length: BUYERS }, () => site.payer(10_000n)))
  const bodies = await Promise.all(payers.map((payer) => paymentBy(payer, site)))
  const before = await site.balanceOf(site.payTo)
  await site.anvil.rpc('evm_setIntervalMining', [4])
  expectServed(await Promise.all(bodies.map((body) => settle(site.service.url, body))))
  expect(await site.balanceOf(site.payTo)).toBe(before + BigInt(BUYERS) * 10_000n)
}, 180_000)

test('fifty buyers who come at once are served on Solana with slots of 400 ms', async () => {
  const solana = await startSolana({ slotMs: 400, genesisHash: GENESIS })
  onTestFinished(solana.stop)
  const [mint, payTo] = [createWallet().address, createWallet().address]
  solana.airdrop(SOLANA_MAIN, 10n * SOL)
  plantMint(solana, mint, { decimals: 6 })
  const destination = await holdTokens(solana, { owner: payTo, mint, amount: 0n })
  const service = await startService({
    ...solanaConfig(solana),
    plugins: [pluginEntry([{ network: SOLANA_NETWORK, relayer_id: 'main' }], { open_mount: true })],
  })
  onTestFinished(service.stop)
  await untilReady(service)
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const amount = 10_000n
  const bodies = await Promise.all(
    Array.from({ length: BUYERS }, async () => {
      const payer = createWallet()
      const source = await holdTokens(solana, { owner: payer.address, mint, amount })
      const transfer = transferChecked({ source, mint, destination, authority: payer.address, amount })
      const steps = [unitLimit(60_000), unitPrice(1n), transfer]
      const { base64 } = signContent({ signers: [AS_PAYER, payer], blockhash, steps })
      return solanaBody({ transaction: base64, mint, payTo, feePayer: SOLANA_MAIN, amount })
    }),
  )
  expectServed(await Promise.all(bodies.map((body) => settle(service.url, body))))
  expect(Buffer.from(solana.account(destination)?.data ?? []).readBigUInt64LE(64)).toBe(
    BigInt(BUYERS) * amount,
  )
}, 180_000)
