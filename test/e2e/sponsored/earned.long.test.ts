import { Account, Asset, Operation, TransactionBuilder, type xdr } from '@stellar/stellar-sdk'
import { expect, test } from 'vitest'
import { transferTokens } from '../../../simulators/solana/wallet.ts'
import type { Service } from '../../support/service.ts'
import { MAIN, RECEIVER } from '../../support/stellar-scenario.ts'
import { USDC as MINT, signAs as signOnSolana, startSponsoredSolana } from './solana-sponsored.ts'
import { signAs, startSponsoredStellar, USDC, USDC_NAME, USER } from './stellar-sponsored.ts'

async function earnedIn(service: Service, asset: string): Promise<object | undefined> {
  const day = 86_400_000
  const [from, to] = [Date.now() - day, Date.now() + day].map((time) => new Date(time).toISOString())
  const { body } = await service.api<{ asset: string; earned: string; unknown_earned: number }[]>(
    'GET',
    `/reports/spending?from=${from}&to=${to}`,
  )
  const row = body.data.find((one) => one.asset === asset)
  return row && { earned: row.earned, unknown: row.unknown_earned }
}

// Each user adds a payment of 1,000 to the relayer, so what arrives differs from what was quoted.
const MORE = 1_000n

test('Solana: earned is what the token account of the relayer has more after the block', async () => {
  const scenario = await startSponsoredSolana()
  const { user, userTokens, relayerTokens, service } = scenario
  const step = transferTokens(userTokens, relayerTokens, user.address, MORE)
  const { body } = await scenario.build({ transaction: scenario.gift(5n, [step]), fee_token: MINT })
  const { id } = await scenario.send({ transaction: signOnSolana(body.data.transaction, user) })
  await scenario.tickUntil(id, 'confirmed')
  const arrived = scenario.tokensAt(relayerTokens)
  expect(arrived).toBe(BigInt(body.data.fee_in_spl) + MORE)
  expect(await earnedIn(service, MINT)).toEqual({ earned: String(arrived), unknown: 0 })
  await scenario.stop()
}, 60_000)

test.each([
  ['an asset of an issuer', USDC_NAME, USDC],
  ['lumens', 'native', Asset.native()],
])(
  'Stellar: earned is what arrived of %s in the ledger',
  async (_name, fee_token, asset) => {
    const scenario = await startSponsoredStellar(() => ({
      fee_payment_strategy: 'user',
      allowed_tokens: [
        { asset: USDC_NAME, price: { sources: [{ type: 'fixed', price: '0.4' }] } },
        { asset: 'native' },
      ],
    }))
    const { ledger } = scenario
    const pay = (destination: string): xdr.Operation =>
      Operation.payment({ destination, asset, amount: '0.0001' })
    const { sequence } = ledger.account(USER.publicKey()) ?? { sequence: 0n }
    const transaction_xdr = new TransactionBuilder(new Account(USER.publicKey(), String(sequence)), {
      fee: '100',
      networkPassphrase: ledger.passphrase,
    })
      .addOperation(pay(RECEIVER))
      .addOperation(pay(MAIN.publicKey()))
      .setTimeout(0)
      .build()
      .toXDR()
    const { body } = await scenario.build({ transaction_xdr, fee_token })
    const { id } = await scenario.send({
      network: 'standalone',
      transaction_xdr: signAs(body.data.transaction, USER, ledger.passphrase),
      fee_bump: true,
    })
    await scenario.closeUntil(id, 'confirmed')
    const arrived = BigInt(body.data.fee_in_token) + MORE
    expect(await earnedIn(scenario.service, fee_token)).toEqual({ earned: String(arrived), unknown: 0 })
    await scenario.stop()
  },
  60_000,
)
