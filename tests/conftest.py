from hypothesis import HealthCheck, settings

settings.register_profile("conjunto", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("conjunto")
