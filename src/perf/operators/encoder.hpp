// The time of an encoder on a device whose rates are known.
//
//   const EncoderEstimate e = encoder_time(model, rates, 2, {.audio_s = 30}, false, calibration);
//
// encode() of ridge/perf/encoder.hpp checks and finds the device; deployments of encoder-decoders call this. The media
// have to be of the encoder's kind. Pure; any thread.
#pragma once

#include "perf/operators/kernels.hpp"
#include "ridge/perf/encoder.hpp"

namespace ridge::perf {

EncoderEstimate encoder_time(const Model& model, const DeviceRates& rates, double tp, const MediaLoad& media,
                             bool ideal, const Calibration& calibration);

}  // namespace ridge::perf
