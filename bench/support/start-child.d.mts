/** The task of the process. */
export interface StartOrder {
  readonly address: string;
  readonly dataDir: string;
  /** The package in `dist`, the SDK alone, or the sources. */
  readonly side: 'dist' | 'bare' | 'sources';
}

/** What the process measured. */
export interface StartReport {
  readonly cpuS: number;
  readonly wallS: number;
  readonly readyMb: number;
  readonly idleMb: number;
}
