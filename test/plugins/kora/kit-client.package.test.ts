import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { expect, onTestFinished, test } from 'vitest'
import { createWallet } from '../../../simulators/solana/wallet.ts'
import { seedOf } from '../../support/solana-scenario.ts'
import { PRICE, startPaymaster, USDC } from './paymaster.ts'

const run = promisify(execFile)

/** What the client of this version asks for. This repository has newer ones, with which its kit client does not load. */
const DEPENDENCIES = {
  '@solana/kora': '0.2.1',
  '@solana/kit': '^6.1.0',
  '@solana/kit-plugin-instruction-plan': '0.6.0',
  '@solana/kit-plugin-payer': '0.6.0',
  '@solana/kit-plugin-rpc': '0.6.0',
  '@solana-program/compute-budget': '0.13.0',
  '@solana-program/token': '0.12.0',
}

test('createKitKoraClient sends with its defaults: its limit of compute units is exactly what it has measured', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kit-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = join(folder, 'kit-client.mjs')
  await copyFile(join(import.meta.dirname, 'kit-client.mjs'), program)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: DEPENDENCIES }))
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })

  const paymaster = await startPaymaster()
  onTestFinished(paymaster.stop)
  const seed = seedOf('a user of the kit client')
  const user = await createKeyPairSignerFromPrivateKeyBytes(seed)
  const friend = createWallet().address
  const before = await paymaster.balance(paymaster.relayer)
  const call = {
    endpoint: `${paymaster.service.url}/kora/rpc`,
    rpcUrl: paymaster.solana.url,
    feeToken: USDC,
    seed: [...seed],
    source: await paymaster.hold(user.address, 10_000_000n),
    destination: await paymaster.hold(friend, 0n),
  }
  const { stdout } = await run(process.execPath, [program, JSON.stringify(call)], { cwd: folder })
  const { signature } = JSON.parse(stdout) as { readonly signature: string }
  expect(paymaster.solana.included(signature)).toBeDefined()
  expect(await paymaster.balance(friend)).toBe(2_000_000n)
  expect(await paymaster.balance(paymaster.relayer)).toBe(before + PRICE)
})
