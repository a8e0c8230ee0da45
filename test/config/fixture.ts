import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/types.ts'
import { ConfigError } from '../../src/lib/fields.ts'

/** Stands for every secret of a test; it must appear in no message. */
export const SECRET = 'do-not-print-do-not-print-do-not-print'

const ENV = { API_KEY: SECRET, PASSPHRASE: SECRET, WEBHOOK_KEY: SECRET }

/** A file that is fine, with everything a file can say. A new copy for each caller. */
export function goodFile() {
  return {
    relayers: [
      {
        id: 'local-1',
        name: 'Local',
        network: 'anvil',
        network_type: 'evm',
        signer_id: 'dev',
        paused: false,
        notification_id: 'ops',
        policies: { gas_price_cap: 100_000_000_000 } as Record<string, unknown>,
      } as Record<string, unknown>,
    ],
    signers: [
      {
        id: 'dev',
        type: 'local',
        config: { path: 'keys/dev.json', passphrase: { type: 'env', value: 'PASSPHRASE' } },
      } as Record<string, unknown>,
    ],
    notifications: [
      {
        id: 'ops',
        type: 'webhook',
        url: 'https://example.com/hook',
        signing_key: { type: 'env', value: 'WEBHOOK_KEY' },
      } as Record<string, unknown>,
    ],
    networks: [
      {
        type: 'evm',
        network: 'anvil',
        chain_id: 31337,
        symbol: 'ETH',
        is_testnet: true,
        features: ['eip1559'],
        average_blocktime_ms: 1000,
        required_confirmations: 1,
        rpc_urls: ['http://127.0.0.1:8545'],
      } as Record<string, unknown>,
    ] as unknown,
  }
}

export type File = ReturnType<typeof goodFile>

interface Given {
  /** Text as it is, or an object to be written as JSON. */
  readonly file: unknown
  readonly env?: Record<string, string | undefined>
  /** Further files by their path from the working directory. */
  readonly files?: Record<string, string>
}

/** Loads a configuration from a folder of its own, `config/config.json` in it. */
export function load({ file, env = {}, files = {} }: Given): Config {
  const cwd = mkdtempSync(join(tmpdir(), 'relayer-config-'))
  try {
    const text = typeof file === 'string' ? file : JSON.stringify(file)
    for (const [path, content] of Object.entries({ 'config/config.json': text, ...files })) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), content)
    }
    return loadConfig({ ...ENV, ...env }, cwd)
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

/** What is wrong with it; empty when nothing is. */
export function problemsOf(given: Given): readonly string[] {
  try {
    load(given)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
