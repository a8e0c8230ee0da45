import { readFileSync } from 'node:fs'
import type { PluginUser } from '../plugins/plugin.ts'

/**
 * The capabilities of Linux that starting and ending a process of another user takes: CHOWN, KILL, SETGID and
 * SETUID, by their bits.
 */
const NEEDED = (1n << 0n) | (1n << 5n) | (1n << 6n) | (1n << 7n)

/** A user id, or a user id and a group id. */
const IDS = /^(\d{1,10})(?::(\d{1,10}))?$/
const LARGEST_ID = 4_294_967_294

/**
 * Reads the user of the processes of plugins, RELAYER_PLUGINS_USER; undefined if they have that of the
 * service.
 */
export function readPluginUser(
  { RELAYER_PLUGINS_USER: text }: Readonly<Record<string, string | undefined>>,
  problems: string[],
  mayChange: () => boolean = mayChangeUser,
): PluginUser | undefined {
  if (!text) return undefined
  const [, uid = '', gid = uid] = IDS.exec(text) ?? []
  const user = { uid: Number(uid), gid: Number(gid) }
  if (uid === '' || Math.max(user.uid, user.gid) > LARGEST_ID || user.uid === 0)
    problems.push(
      'RELAYER_PLUGINS_USER must be a user id other than 0, or a user id and a group id: 10001:10001',
    )
  else if (!mayChange())
    problems.push(
      'RELAYER_PLUGINS_USER needs Linux and a service with the capabilities CHOWN, KILL, SETGID and SETUID, as root has them; where it lacks them, run the plugins in a container of their own (docs/plugins.md)',
    )
  return user
}

/** Root of a container may lack the capabilities, and another user may have them. */
function mayChangeUser(): boolean {
  if (process.platform !== 'linux') return false
  const [, digits = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return (BigInt(`0x${digits}`) & NEEDED) === NEEDED
}
