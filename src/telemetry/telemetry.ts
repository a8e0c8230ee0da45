import type { Telemetry } from './open-telemetry.ts'
import type { TelemetrySettings } from './settings.ts'

/** Starts the exports. Without settings, no OpenTelemetry package is loaded. */
export async function startTelemetry(
  settings: TelemetrySettings | undefined,
): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry(settings)
}
