import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../lib/package-root.ts'

/** The three ways to have the program: a clone of the repository, a package in a folder of modules, and the image, or another copy of `dist`. */
type Installation = 'clone' | 'package' | 'copy'

/** Gives the command line that a user types for arguments such as `init`, in the installation that this program belongs to. */
export function relayerCommand(args: string, root: string = PACKAGE_ROOT): string {
  return COMMAND_LINES[installationOf(root)](args)
}

/** Gives the command line that starts a local chain. A clone has anvil among its development dependencies. */
export function anvilCommand(args: string, root: string = PACKAGE_ROOT): string {
  return installationOf(root) === 'clone' ? `npx anvil ${args}` : `npx @foundry-rs/anvil ${args}`
}

const COMMAND_LINES: Readonly<Record<Installation, (args: string) => string>> = {
  clone: (args) => (args === 'serve' ? 'npm start' : `npm run relayer -- ${args}`),
  package: (args) => `npx multichain-relayer ${args}`,
  copy: (args) => `relayer ${args}`,
}

function installationOf(root: string): Installation {
  if (root.replaceAll('\\', '/').endsWith('/node_modules/multichain-relayer')) return 'package'
  return existsSync(join(root, 'src')) ? 'clone' : 'copy'
}
